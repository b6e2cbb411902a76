/**
 * A restore begins a timeline: the WAL continues under another number, and `<number>.history` records where it branched off. That file is
 * written at the restore, and keeps the number from being assigned twice. Only WAL of its own proves that a timeline was used: a restore
 * that was only inspected has none, and is not followed.
 */

import { chown, link, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import type { Account } from '../account.ts';
import { BackupFailure, codeOf } from '../failure.ts';
import { syncFolder, writeSafely } from './copy-file.ts';
import type { Manifest } from './manifest.ts';

export type Timeline = {
  number: number;
  /** The time at which its last WAL file was archived. */
  lastAt: number;
  /** The last file of its WAL, such as `000000020000000000000007`. */
  last: string;
};

const SEGMENT = /^([0-9A-F]{8})[0-9A-F]{16}\.gz$/;
/** A line for each restore. */
const HISTORY_MAX_BYTES = 1024 * 1024;
const unzip = promisify(gunzip);

type Origin = Pick<Manifest, 'systemId' | 'timeline' | 'stopLsn'>;

/**
 * Lists the timelines with WAL of their own that continue a backup, including the backup's own. A lost history is an error only for the
 * requested timeline. `archive` is the folder of the cluster's WAL; without it the list is empty.
 */
export async function listTimelines(
  archive: string | undefined,
  backup: Origin,
  requestedTimeline: number | null,
): Promise<Timeline[]> {
  if (archive === undefined) return [];
  const found: Timeline[] = [];
  for (const [number, name] of lastOfEach(await readdir(archive)).toReversed()) {
    const history = join(archive, historyName(number));
    if (
      await isOfBackup(
        { number, history },
        { backup, isNeeded: requestedTimeline === null || requestedTimeline === number },
      )
    ) {
      const { mtimeMs } = await stat(join(archive, name));
      found.push({ number, lastAt: mtimeMs, last: basename(name, '.gz') });
    }
  }
  return found;
}

/** Returns the last file of each timeline, the latest timeline first. */
function lastOfEach(names: readonly string[]): [number: number, name: string][] {
  const last = new Map<number, string>();
  for (const name of names.toSorted().toReversed()) {
    const number = Number.parseInt(SEGMENT.exec(name)?.[1] ?? '', 16);
    if (number > 0 && !last.has(number)) last.set(number, name);
  }
  return [...last];
}

/** Returns the requested timeline, or else the most recently used one. */
export function chooseTimeline(
  found: readonly Timeline[],
  { backupTimeline, requestedTimeline }: { backupTimeline: number; requestedTimeline: number | null },
): number {
  if (requestedTimeline === null)
    return found.toSorted((a, b) => b.lastAt - a.lastAt || b.number - a.number)[0]?.number ?? backupTimeline;
  if (requestedTimeline === backupTimeline || found.some(({ number }) => number === requestedTimeline))
    return requestedTimeline;
  const numbers = [...new Set([backupTimeline, ...found.map(({ number }) => number)])].toSorted(
    (a, b) => a - b,
  );
  throw new BackupFailure(
    'timeline',
    `The log of timeline ${requestedTimeline} does not continue this backup. Use one of ${numbers.join(', ')}, or a backup of that timeline`,
  );
}

/** Returns whether the timeline is the backup's own, or branched off from it after the end of the backup. */
async function isOfBackup(
  { number, history }: { number: number; history: string },
  { backup, isNeeded }: { backup: Origin; isNeeded: boolean },
): Promise<boolean> {
  if (number <= backup.timeline) return number === backup.timeline;
  const branches = await readHistory(history).catch((error: unknown) => {
    if (isNeeded) throw error;
    // Another timeline was requested, which does not need this one.
    return [];
  });
  return branches.some(({ number: from, at }) => from === backup.timeline && at >= lsn(backup.stopLsn));
}

type Branch = { number: number; at: bigint };

/** Reads the ancestors of an archived timeline and the positions where each was left, the first ancestor first. */
export async function readHistory(path: string): Promise<Branch[]> {
  try {
    const packed = await readFile(path);
    const branches = branchesIn((await unzip(packed, { maxOutputLength: HISTORY_MAX_BYTES })).toString());
    if (branches.length === 0) throw new Error('it is empty');
    return branches;
  } catch (error) {
    throw lostHistory(path, error);
  }
}

function lostHistory(path: string, error: unknown): BackupFailure {
  const what = codeOf(error) === 'ENOENT' ? 'is missing' : 'cannot be read';
  return new BackupFailure(
    'broken',
    `${path} ${what}. It records where the stored log of its timeline began. Put the file there from a copy, or from the ` +
      `folder wal of a backup of that timeline. Without a copy, follow another timeline with --timeline`,
    error,
  );
}

/** Returns the WAL position at which the ancestor of this timeline ended. */
export async function readEnd(data: string, timeline: number): Promise<bigint> {
  const path = join(data, 'pg_wal', basename(historyName(timeline), '.gz'));
  const end = branchesIn(await readFile(path, 'utf8')).at(-1);
  if (end === undefined) throw new Error(`${path} says nothing`);
  return end.at;
}

function branchesIn(history: string): Branch[] {
  const lines = history.matchAll(/^[ \t]*(\d+)[ \t]+([0-9A-F]+\/[0-9A-F]+)/gm);
  return Array.from(lines, ([, number, at = '']) => ({ number: Number(number), at: lsn(at) }));
}

function lsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

export function historyName(timeline: number): string {
  return `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history.gz`;
}

export type ClusterTimeline = { data: string; timeline: number; owner: Account | undefined };

/** Stores the file completely or not at all: PostgreSQL assigns the next restore the first number without a file. */
export async function keepHistory(
  archive: string,
  { data, timeline, owner }: ClusterTimeline,
): Promise<void> {
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
      `Another restore has started timeline ${timeline} at the same time. Restore again`,
      error,
    );
  } finally {
    await rm(part, { force: true });
  }
  await syncFolder(archive);
}
