import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Manifest } from './manifest.ts';
import { historyName, readHistory, type Timeline } from './timelines.ts';

const run = promisify(execFile);
/** The default of initdb, which we use. */
const SEGMENT_BYTES = 16n * 1024n * 1024n;
const SEGMENTS_IN_GROUP = 2n ** 32n / SEGMENT_BYTES;

export type Ended = { archive: string; manifest: Pick<Manifest, 'lastWal'>; endedAt: bigint };

/**
 * Returns the missing or unreadable WAL file at which the replay ended; undefined if everything was replayed. PostgreSQL takes such a file
 * for the end of the WAL, although the archive had later files when the restore began. It is enough that the replay reached the last file.
 * That file is usually not full, and a record in it may continue in one that was never archived.
 */
export async function findGap(
  { number, last }: Pick<Timeline, 'number' | 'last'>,
  { archive, manifest, endedAt }: Ended,
): Promise<string | undefined> {
  const ended = endedAt / SEGMENT_BYTES;
  if (ended >= segmentOf(last)) return undefined;
  const kept = new Set(await readdir(archive));
  const history = historyName(number);
  const isOwn = number === Number.parseInt(manifest.lastWal.slice(0, 8), 16);
  const left = isOwn || !kept.has(history) ? [] : await readHistory(join(archive, history));
  const nameOf = (segment: bigint): string => {
    const before = left.find(({ at }) => at / SEGMENT_BYTES > segment);
    return nameSegment(before?.number ?? number, segment);
  };
  // WAL in the backup itself may be missing in the archive.
  const held = segmentOf(manifest.lastWal);
  for (let segment = ended > held ? ended : held + 1n; segment <= segmentOf(last); segment += 1n) {
    const name = `${nameOf(segment)}.gz`;
    const path = join(archive, name);
    if (!kept.has(name)) return `${path} is missing`;
    if (!(await isWhole(path))) return `${path} cannot be read`;
  }
  return `PostgreSQL cannot follow it through ${nameOf(ended)}`;
}

/** Checks with the same program that PostgreSQL uses to read the file. */
async function isWhole(path: string): Promise<boolean> {
  return run('gzip', ['-t', path]).then(
    () => true,
    () => false,
  );
}

function segmentOf(name: string): bigint {
  return BigInt(`0x${name.slice(8, 16)}`) * SEGMENTS_IN_GROUP + BigInt(`0x${name.slice(16)}`);
}

function nameSegment(timeline: number, segment: bigint): string {
  const parts = [BigInt(timeline), segment / SEGMENTS_IN_GROUP, segment % SEGMENTS_IN_GROUP];
  return parts.map((part) => part.toString(16).toUpperCase().padStart(8, '0')).join('');
}
