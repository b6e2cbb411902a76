import { execFile } from 'node:child_process';
import { chown, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { restoreCommand } from './archive.ts';
import { BackupFailure } from '../failure.ts';
import type { Manifest } from './manifest.ts';
import {
  chooseTimeline,
  historyName,
  keepHistory,
  listTimelines,
  readEnd,
  readHistory,
  type Timeline,
} from './timelines.ts';
import { readFacts } from '../facts.ts';
import type { Home } from '../home.ts';
import { type PidFile, stopPostmaster } from '../postmaster.ts';
import { startPostmaster } from '../start-postmaster.ts';

export type RecoverOptions = {
  manifest: Manifest;
  /** In milliseconds; null: to the end of the WAL. */
  until: number | null;
  /** The timeline to follow; null: the most recently used one. */
  timeline: number | null;
  /** The folder of the archived WAL; undefined without an archive. */
  archive: string | undefined;
  print: (line: string) => void;
};

export type RecoveryResult = {
  /** The timeline on which the database continues. */
  timeline: number;
  /** The time of the last restored transaction. */
  restoredTo: string | null;
};

/** Starts PostgreSQL, which replays the WAL and begins a new timeline, and stops it again. */
export async function recover(home: Home, options: RecoverOptions): Promise<RecoveryResult> {
  const { until, archive, print } = options;
  const found = await findTimeline(options);
  const { number: followed } = found;
  const settings = {
    restore_command: await restoreCommand(archive, home),
    // By number, because the latest timeline may be a restore that was made only for inspection.
    recovery_target_timeline: String(followed),
    // Otherwise PostgreSQL would report that it is ready before the end of the replay.
    hot_standby: 'off',
    ...(until === null ? {} : { ...targetOf(until, options.manifest), recovery_target_action: 'promote' }),
  };
  const begun = performance.now();
  const removePlaceholders = await reserveNumbers(home, { archive, followed });
  const started = await startPostmaster(home, {
    settings,
    onReplay: (output) => print(describeReplay(output, performance.now() - begun)),
  });
  await removePlaceholders();
  if (started.kind !== 'started') throw notRecovered(started.why, { until, followed });
  try {
    const recovered = await readRecovered(home, started.file);
    if (until === null) await requireAll({ options, home, found, recovered });
    if (archive !== undefined)
      await keepHistory(archive, { data: home.data, timeline: recovered.timeline, owner: home.runAs });
    return recovered;
  } finally {
    await stopPostmaster(home, started.file.pid);
  }
}

/** The archived WAL of the timeline as of now; more may arrive during the replay. */
type FollowedTimeline = { number: number; kept: Timeline | undefined };

async function findTimeline({
  manifest,
  timeline: requestedTimeline,
  archive,
  print,
}: RecoverOptions): Promise<FollowedTimeline> {
  const backupTimeline = manifest.timeline;
  const found = await listTimelines(archive, manifest, requestedTimeline);
  const chosen = chooseTimeline(found, { backupTimeline, requestedTimeline });
  if (found.some(({ number }) => number !== backupTimeline)) print(describeChoice(found, chosen));
  return { number: chosen, kept: found.find(({ number }) => number === chosen) };
}

type RecoveryEnd = {
  options: RecoverOptions;
  home: Home;
  found: FollowedTimeline;
  recovered: RecoveryResult;
};

/** Rejects a gap in the archived WAL, which PostgreSQL takes for the end. A complete restore must not end there. */
async function requireAll({ options, home, found, recovered }: RecoveryEnd): Promise<void> {
  const { archive, manifest } = options;
  if (found.kept === undefined || archive === undefined) return;
  const endedAt = await readEnd(home.data, recovered.timeline);
  const gap = await findGap(found.kept, { archive, manifest, endedAt });
  if (gap === undefined) return;
  const { restoredTo } = recovered;
  const onPurpose =
    restoredTo !== null && restoredTo > manifest.endedAt
      ? `restore up to there with --until and a time before ${restoredTo}`
      : `restore only the backup itself with --until ${manifest.endedAt}`;
  throw new BackupFailure(
    'broken',
    `The log is stored up to ${found.kept.last}, but ${gap}. A complete restore would lose all changes after that. ` +
      `Put the file there from a copy. Without a copy, ${onPurpose}`,
  );
}

function describeChoice(found: readonly Timeline[], chosen: number): string {
  const each = found.map(
    ({ number, lastAt }) => `timeline ${number}, stored up to ${new Date(lastAt).toISOString()}`,
  );
  return `The log continues as ${each.join(', and as ')}. The restore follows timeline ${chosen}; use --timeline for another one`;
}

const MINUTE_MS = 60_000;

/** PostgreSQL logs each file that it reads from the archive. */
function describeReplay(output: string, ms: number): string {
  const last = [...output.matchAll(/restored log file "([0-9A-F]{24})"/g)].at(-1)?.[1];
  const at = last === undefined ? 'the end of the backup itself' : last;
  return `The log has been replayed for ${(ms / MINUTE_MS).toFixed(1)} minutes and has reached ${at}`;
}

/** A moment at the end of the backup itself may have no later WAL record that would prove it was reached. */
function targetOf(until: number, { endedAt }: Manifest): Record<string, string> {
  return until === Date.parse(endedAt)
    ? { recovery_target: 'immediate' }
    : { recovery_target_time: targetTime(until) };
}

/** PostgreSQL does not accept the `Z` at this stage of its start. */
function targetTime(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '+00');
}

function notRecovered(
  why: string,
  { until, followed }: { until: number | null; followed: number },
): BackupFailure {
  const target = until === null ? '' : new Date(until).toISOString();
  return why.includes('recovery ended before configured recovery target was reached')
    ? new BackupFailure(
        'until',
        `The stored log of timeline ${followed} ends before ${target}. Omit --until to restore all of it`,
      )
    : new BackupFailure('broken', `PostgreSQL cannot restore this backup: ${why}`);
}

async function readRecovered(home: Home, { port }: PidFile): Promise<RecoveryResult> {
  const facts = readFacts(home.dataDir);
  const { default: pg } = await import('pg');
  const client = new pg.Client({ ...facts, host: '127.0.0.1', port, ssl: false });
  await client.connect();
  try {
    const { rows } = await client.query<{ timeline: string; at: Date | null }>(
      `SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline, pg_last_xact_replay_timestamp() AS at`,
    );
    const [row] = rows;
    if (!row) throw new Error('PostgreSQL returned no facts about the restore');
    return { timeline: Number.parseInt(row.timeline, 16), restoredTo: row.at?.toISOString() ?? null };
  } finally {
    await client.end();
  }
}

const run = promisify(execFile);
/** The default of initdb, which we use. */
const SEGMENT_BYTES = 16n * 1024n * 1024n;
const SEGMENTS_IN_GROUP = 2n ** 32n / SEGMENT_BYTES;

type WalEnd = { archive: string; manifest: Pick<Manifest, 'lastWal'>; endedAt: bigint };

/**
 * Returns the missing or unreadable WAL file at which the replay ended; undefined if everything was replayed. PostgreSQL takes such a file
 * for the end of the WAL, although the archive had later files when the restore began. It is enough that the replay reached the last file.
 * That file is usually not full, and a record in it may continue in one that was never archived.
 */
export async function findGap(
  { number, last }: Pick<Timeline, 'number' | 'last'>,
  { archive, manifest, endedAt }: WalEnd,
): Promise<string | undefined> {
  const ended = endedAt / SEGMENT_BYTES;
  if (ended >= segmentOf(last)) return undefined;
  const kept = new Set(await readdir(archive));
  const history = historyName(number);
  const isBackupTimeline = number === Number.parseInt(manifest.lastWal.slice(0, 8), 16);
  const branches = isBackupTimeline || !kept.has(history) ? [] : await readHistory(join(archive, history));
  const nameOf = (segment: bigint): string => {
    const before = branches.find(({ at }) => at / SEGMENT_BYTES > segment);
    return nameSegment(before?.number ?? number, segment);
  };
  // WAL in the backup itself may be missing in the archive.
  const lastSegment = segmentOf(manifest.lastWal);
  for (
    let segment = ended > lastSegment ? ended : lastSegment + 1n;
    segment <= segmentOf(last);
    segment += 1n
  ) {
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

const KEPT = /^([0-9A-F]{8})(?:[0-9A-F]{16}|\.history)\.gz$/;

/**
 * PostgreSQL numbers the timeline of a restore after the followed one, and takes the first number without a history file. A number whose
 * history was lost would be assigned twice, and its WAL would be mixed. So an empty file reserves each such number until the restore has
 * its own.
 */
async function reserveNumbers(
  { data, runAs }: Pick<Home, 'data' | 'runAs'>,
  { archive, followed }: { archive: string | undefined; followed: number },
): Promise<() => Promise<void>> {
  if (archive === undefined) return async () => {};
  const kept = await readdir(archive);
  const numbers = new Set(kept.map((name) => Number.parseInt(KEPT.exec(name)?.[1] ?? '0', 16)));
  const placeholders: string[] = [];
  for (const number of numbers) {
    const name = historyName(number);
    if (number <= followed || (await isReadable(join(archive, name)))) continue;
    const path = join(data, 'pg_wal', basename(name, '.gz'));
    await writeFile(path, '', { mode: 0o600 });
    placeholders.push(path);
    if (runAs) await chown(path, runAs.uid, runAs.gid);
  }
  return async () => {
    for (const path of placeholders) await rm(path, { force: true });
  };
}

async function isReadable(history: string): Promise<boolean> {
  return readHistory(history).then(
    () => true,
    () => false,
  );
}
