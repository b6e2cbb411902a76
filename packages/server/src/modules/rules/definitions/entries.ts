import type { Tx } from '../../../platform/db/statements.ts';
import { cooldownOf, type EntryWish } from './entry.ts';
import type { Definition } from './rule.ts';
import { type EntryKey, type EntryRecord, findEntryRows, insertEntries, renewEntries } from './store.ts';

export type { EntryRecord } from './store.ts';

/** Returns all entries of these users into these rules. */
export function findEntries(tx: Tx, asked: Omit<EntryKey, 'key'>[]): Promise<EntryRecord[]> {
  return asked.length === 0 ? Promise.resolve([]) : findEntryRows(tx, asked);
}

export type Entering = {
  projectId: number;
  userId: string;
  ruleId: string;
  entry: Definition['entry'];
  wish: EntryWish;
};

/**
 * Writes entries that were decided under the project lock, each key once. The unique index has the last word. If a row already exists,
 * something else wrote entries without the lock, and the whole batch is rolled back.
 */
export async function writeEntries(tx: Tx, entering: Entering[]): Promise<void> {
  const byCooldown = Map.groupBy(
    entering.filter(({ entry }) => entry.kind !== 'one_at_a_time'),
    ({ entry, wish }) => cooldownOf(entry, wish.key),
  );
  await Promise.all(
    [...byCooldown].map(async ([cooldownMs, some]) => {
      const rows = lastOfEach(some.map(toRecord));
      const written = await (cooldownMs === null
        ? insertEntries(tx, rows)
        : renewEntries(tx, rows, cooldownMs));
      if (written !== rows.length) throw new Error(`${rows.length - written} enrollments already existed`);
    }),
  );
}

/** Writes entries that are used up without a run. An existing entry is kept. */
export async function burnEntries(tx: Tx, burnt: Omit<Entering, 'entry'>[]): Promise<void> {
  if (burnt.length > 0) await insertEntries(tx, lastOfEach(burnt.map(toRecord)));
}

function toRecord({ projectId, userId, ruleId, wish }: Omit<Entering, 'entry'>): EntryRecord {
  return { projectId, userId, ruleId, key: wish.key, enrolledAt: wish.at, level: wish.level };
}

function lastOfEach(rows: EntryRecord[]): EntryRecord[] {
  const last = new Map(rows.map((row) => [entryId(row), row]));
  return [...last.values()];
}

function entryId({ projectId, userId, ruleId, key }: EntryKey): string {
  return JSON.stringify([projectId, userId, ruleId, key]);
}
