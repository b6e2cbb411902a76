import type { Tx } from '../../io/db/index.ts';
import { attachPartition, listPartitions } from './partition-store.ts';

/** A partition is there before its month begins, for this many months. */
const MONTHS_AHEAD = 3;

/**
 * Makes the partitions of `event` for the month of `now` and the three after it; gives the names of those made. Anybody may
 * do so at any time, several processes at once too.
 */
export async function ensurePartitions(
  db: { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> } & Tx,
  now: number,
): Promise<string[]> {
  const existing = new Set(await listPartitions(db));
  const made: string[] = [];
  for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead += 1) {
    const month = monthOf(now, ahead);
    if (existing.has(month.name)) continue;
    await attachPartition(db, month);
    made.push(month.name);
  }
  return made;
}

/** Whether an event that is received now has its place. */
export async function isPartitioned(tx: Tx, now: number): Promise<boolean> {
  return (await listPartitions(tx)).includes(monthOf(now, 0).name);
}

export type Month = { name: string; from: string; to: string };

/** Months are those of UTC, whatever the zone of the database's session. */
export function monthOf(now: number, ahead: number): Month {
  const at = new Date(now);
  const first = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + ahead, 1));
  const next = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + ahead + 1, 1));
  const name = `event_${first.toISOString().slice(0, 7).replace('-', '_')}`;
  return { name, from: first.toISOString(), to: next.toISOString() };
}
