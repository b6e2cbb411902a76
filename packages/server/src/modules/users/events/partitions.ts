import {
  attachPartition,
  dropPartition,
  isPartitionEmpty,
  listPartitions,
  type Month,
} from './partition-store.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** How many months in advance a partition exists, in real time. */
const MONTHS_AHEAD = 3;
/**
 * The same for the clock of a sandbox. It is enough for the hourly job, and not more, because each partition has a cost for every project.
 */
export const SANDBOX_MONTHS_AHEAD = 1;

/**
 * Creates the partitions of `event` for the month of `now` and the following ones, and returns the names of those created. Safe to run at
 * any time and in several processes.
 */
export async function ensurePartitions(
  db: { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> } & Tx,
  now: number,
  monthsAhead = MONTHS_AHEAD,
): Promise<string[]> {
  const existing = new Set(await listPartitions(db));
  const made: string[] = [];
  for (let ahead = 0; ahead <= monthsAhead; ahead += 1) {
    const month = monthOf(now, ahead);
    if (existing.has(month.name)) continue;
    await attachPartition(db, month);
    made.push(month.name);
  }
  return made;
}

/** Returns whether there is a partition for events received now. */
export async function isPartitioned(tx: Tx, now: number): Promise<boolean> {
  return (await listPartitions(tx)).includes(monthOf(now, 0).name);
}

/** Months are in UTC, whatever the time zone of the database session. */
function monthOf(now: number, ahead: number): Month {
  const at = new Date(now);
  const first = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + ahead, 1));
  const next = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + ahead + 1, 1));
  const name = `event_${first.toISOString().slice(0, 7).replace('-', '_')}`;
  return { name, from: first.toISOString(), to: next.toISOString() };
}

type Deps = { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> } & Tx;

/** Two whole months after the partition's own, no process writes to it, however wrong its clock is. */
const MONTHS_KEPT = 2;

/** Drops empty partitions of old months and returns their names. */
export async function dropEmptyPartitions(db: Deps, now: number): Promise<string[]> {
  const firstKept = monthOf(now, -MONTHS_KEPT).name;
  const dropped: string[] = [];
  for (const name of (await listPartitions(db)).toSorted()) {
    if (!OF_A_MONTH.test(name) || name >= firstKept || !(await isPartitionEmpty(db, name))) continue;
    await dropPartition(db, name);
    dropped.push(name);
  }
  return dropped;
}

/** The month is parsed from the name. A partition that was attached under another name is left alone. */
const OF_A_MONTH = /^event_\d{4}_\d{2}$/;
