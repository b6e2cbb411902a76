import { chown, link, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import type { Account } from '../account.ts';
import { codeOf } from '../failure.ts';
import { syncFolder, writeSafely } from './copy-file.ts';
import { BackupFailure } from './failure.ts';
import type { Manifest } from './manifest.ts';
import { readSystemOfLog } from './system-id.ts';

/**
 * A restore begins a timeline: the log goes on under another number, and `<number>.history` says where it left which one. That file
 * is written at the restore, and keeps the number from being given twice. Whether anybody went on with it only log of its own tells:
 * what was restored to be looked at has none, and is not followed.
 */
export type Timeline = {
  number: number;
  /** When the last of its log was kept. */
  lastAt: number;
};

const SEGMENT = /^([0-9A-F]{8})[0-9A-F]{16}\.gz$/;
/** A line for each restore. */
const HISTORY_MAX_BYTES = 1024 * 1024;
const unzip = promisify(gunzip);

type Origin = Pick<Manifest, 'systemId' | 'timeline' | 'stopLsn'>;

/** The timelines with log of their own that a backup can be followed along, its own among them. */
export async function listTimelines(folders: readonly string[], backup: Origin): Promise<Timeline[]> {
  const kept = await listLog(folders);
  const last = new Map<number, string>();
  for (const name of [...kept.keys()].toSorted()) {
    const [, number] = SEGMENT.exec(name) ?? [];
    if (number !== undefined) last.set(Number.parseInt(number, 16), join(kept.get(name) ?? '', name));
  }
  const found: Timeline[] = [];
  for (const [number, path] of last) {
    const history = historyName(number);
    // Where all log lies in one folder, that of another cluster may be among it.
    if ((await readSystemOfLog(path)) !== backup.systemId) continue;
    const isOfBackup = number === backup.timeline || (await leaves(kept.get(history), { history, backup }));
    if (isOfBackup) found.push({ number, lastAt: (await stat(path)).mtimeMs });
  }
  return found;
}

/** The one that is asked for; else the one on which somebody worked last. */
export function chooseTimeline(
  found: readonly Timeline[],
  { own, asked }: { own: number; asked: number | null },
): number {
  if (asked === null)
    return found.toSorted((a, b) => b.lastAt - a.lastAt || b.number - a.number)[0]?.number ?? own;
  if (asked === own || found.some(({ number }) => number === asked)) return asked;
  const known = [...new Set([own, ...found.map(({ number }) => number)])].toSorted((a, b) => a - b);
  throw new BackupFailure(
    'timeline',
    `This backup cannot be followed along timeline ${asked}: name one of ${known.join(', ')}, or take a backup of that timeline`,
  );
}

/** Where each file of the log lies, by name; of two of one name the first counts. */
async function listLog(folders: readonly string[]): Promise<Map<string, string>> {
  const kept = new Map<string, string>();
  for (const folder of folders)
    for (const name of await readdir(folder)) if (!kept.has(name)) kept.set(name, folder);
  return kept;
}

/** Whether it left the timeline of the backup behind the end of the backup. */
async function leaves(
  folder: string | undefined,
  { history, backup }: { history: string; backup: Origin },
): Promise<boolean> {
  if (folder === undefined) return false;
  const packed = await readFile(join(folder, history));
  const text = (await unzip(packed, { maxOutputLength: HISTORY_MAX_BYTES })).toString();
  return text.split('\n').some((line) => {
    const [, parent, at] = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/.exec(line) ?? [];
    return Number(parent) === backup.timeline && at !== undefined && lsn(at) >= lsn(backup.stopLsn);
  });
}

function lsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

function historyName(timeline: number): string {
  return `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history.gz`;
}

export type Begun = { data: string; timeline: number; owner: Account | undefined };

/** Whole or not at all: PostgreSQL gives the next restore the first number of which it finds no file. */
export async function keepHistory(archive: string, { data, timeline, owner }: Begun): Promise<void> {
  const path = join(archive, historyName(timeline));
  const content = await readFile(join(data, 'pg_wal', basename(path, '.gz')));
  const part = join(dirname(path), `.${basename(path)}.part-${process.pid}`);
  await rm(part, { force: true });
  try {
    await writeSafely(part, gzipSync(content));
    if (owner) await chown(part, owner.uid, owner.gid);
    await link(part, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new BackupFailure(
      'timeline',
      `Another restore has begun timeline ${timeline} at the same time: restore again`,
      error,
    );
  } finally {
    await rm(part, { force: true });
  }
  await syncFolder(archive);
}
