import type { Anchor, Definition, Reason } from './rule.ts';
import { type EntryKey, type EntryRecord, findEntryRows, insertEntries, renewEntries } from './store.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { matchesWhere } from '../../../platform/predicate/compare.ts';
import { canonicalJson } from '../../../platform/text/canonical-json.ts';

/** A user's entry into a rule under a key: when it was last, and whether the user had passed the condition for entering again. */
export type EntryRow = { enrolledAt: number; level: number };

/** The key and time of the entry that a trigger would write. */
export type EntryWish = { key: string; at: number; level: number };

const KEY_MAX_CHARS = 200;
const KEY_OF_NOTHING = 'none';

/** Returns the entry of this trigger. `subjectId` is the subject of the rule, or null if it has none. `at` is the time of entry. */
export function entryWish(
  { entry }: Pick<Definition, 'entry'>,
  { anchor, subjectId, at }: { anchor: Anchor; subjectId: string | null; at: number },
): EntryWish {
  switch (entry.kind) {
    case 'once':
    case 'one_at_a_time':
      return { key: '', at, level: 0 };
    case 'once_per':
      return { key: valuesKey(entry.properties, anchor), at, level: 0 };
    case 'once_per_about':
      return { key: subjectId ?? KEY_OF_NOTHING, at, level: 0 };
    case 'cooldown': {
      const passes = entry.again !== null && matchesWhere([entry.again], anchor.properties);
      return { key: valuesKey(entry.properties, anchor), at, level: passes ? 1 : 0 };
    }
    default:
      return entry satisfies never;
  }
}

/** A missing property counts as a value too. A long key is replaced by its hash. */
function valuesKey(properties: string[], anchor: Anchor): string {
  if (properties.length === 0) return '';
  const values = properties.map((name) =>
    Object.hasOwn(anchor.properties, name) ? anchor.properties[name] : null,
  );
  const [only] = values;
  const text = values.length === 1 && typeof only === 'string' ? only : canonicalJson(values);
  return text.length <= KEY_MAX_CHARS ? text : `sha256:${sha256(text)}`;
}

/**
 * Returns why a user who entered before may not enter again, or null if they may. The statements that write entries (`store.ts`) repeat
 * this check, so a concurrent lookup cannot bypass it.
 */
export function refusesEntry(
  { entry }: Pick<Definition, 'entry'>,
  existing: EntryRow | undefined,
  wish: EntryWish,
): Extract<Reason, 'already_entered' | 'in_cooldown'> | null {
  const cooldownMs = cooldownOf(entry, wish.key);
  if (entry.kind === 'one_at_a_time' || !existing) return null;
  if (cooldownMs === null) return 'already_entered';
  const isOver = existing.enrolledAt <= wish.at - cooldownMs;
  return isOver || existing.level < wish.level ? null : 'in_cooldown';
}

/** Returns whether a user enters at most once per key, regardless of later events. */
export function entersOnce({ entry }: Pick<Definition, 'entry'>): boolean {
  return entry.kind === 'once' || entry.kind === 'once_per';
}

/** Returns null if an entry never expires. */
function cooldownOf(entry: Definition['entry'], key: string): number | null {
  if (entry.kind === 'cooldown') return entry.ms;
  return entry.kind === 'once_per_about' && key === KEY_OF_NOTHING ? entry.otherwiseMs : null;
}

export type { EntryRecord } from './store.ts';

/** Returns all entries of these users into these rules. */
export function findEntries(tx: Tx, keys: Omit<EntryKey, 'key'>[]): Promise<EntryRecord[]> {
  return keys.length === 0 ? Promise.resolve([]) : findEntryRows(tx, keys);
}

type EntryWrite = {
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
export async function writeEntries(tx: Tx, entries: EntryWrite[]): Promise<void> {
  const byCooldown = Map.groupBy(
    entries.filter(({ entry }) => entry.kind !== 'one_at_a_time'),
    ({ entry, wish }) => cooldownOf(entry, wish.key),
  );
  await Promise.all(
    [...byCooldown].map(async ([cooldownMs, group]) => {
      const rows = lastOfEach(group.map(toRecord));
      const written = await (cooldownMs === null
        ? insertEntries(tx, rows)
        : renewEntries(tx, rows, cooldownMs));
      if (written !== rows.length) throw new Error(`${rows.length - written} enrollments already existed`);
    }),
  );
}

/** Writes entries that are used up without a run. An existing entry is kept. */
export async function burnEntries(tx: Tx, burnt: Omit<EntryWrite, 'entry'>[]): Promise<void> {
  if (burnt.length > 0) await insertEntries(tx, lastOfEach(burnt.map(toRecord)));
}

function toRecord({ projectId, userId, ruleId, wish }: Omit<EntryWrite, 'entry'>): EntryRecord {
  return { projectId, userId, ruleId, key: wish.key, enrolledAt: wish.at, level: wish.level };
}

function lastOfEach(rows: EntryRecord[]): EntryRecord[] {
  const last = new Map(rows.map((row) => [entryId(row), row]));
  return [...last.values()];
}

function entryId({ projectId, userId, ruleId, key }: EntryKey): string {
  return JSON.stringify([projectId, userId, ruleId, key]);
}
