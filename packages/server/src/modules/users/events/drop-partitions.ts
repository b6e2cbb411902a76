import type { Tx } from '../../../platform/db/statements.ts';
import { dropPartition, isPartitionEmpty, listPartitions } from './partition-store.ts';
import { monthOf } from './partitions.ts';

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
