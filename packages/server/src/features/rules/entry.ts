import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/hash.ts';
import { matchesWhere } from '../../base/predicate/index.ts';
import type { Anchor, Definition, Reason } from './rule.ts';

/** That a person entered a rule under a key: when last, and whether they passed what lets them in once more. */
export type EntryRow = { enrolledAt: number; level: number };

/** What an entry needs to be told apart, and when it was. */
export type EntryWish = { key: string; at: number; level: number };

const KEY_MAX_CHARS = 200;
const KEY_OF_NOTHING = 'none';

/** `subjectId`: of what the rule is about, null where there is nothing. `at`: when they enter. */
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

/** One that is missing is a value too. A key that is long is told by its hash. */
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
 * Whether somebody who entered before may enter again; null: they may. The same is said by the statements that write
 * entries (`store.ts`), which nobody passes by looking first.
 */
export function refusesEntry(
  { entry }: Pick<Definition, 'entry'>,
  known: EntryRow | undefined,
  wish: EntryWish,
): Extract<Reason, 'already_entered' | 'in_cooldown'> | null {
  const cooldownMs = cooldownOf(entry, wish.key);
  if (entry.kind === 'one_at_a_time' || !known) return null;
  if (cooldownMs === null) return 'already_entered';
  const isOver = known.enrolledAt <= wish.at - cooldownMs;
  return isOver || known.level < wish.level ? null : 'in_cooldown';
}

/** Whether nobody comes in twice under one key, whatever comes. */
export function entersOnce({ entry }: Pick<Definition, 'entry'>): boolean {
  return entry.kind === 'once' || entry.kind === 'once_per';
}

/** Null where an entry counts for ever. */
export function cooldownOf(entry: Definition['entry'], key: string): number | null {
  if (entry.kind === 'cooldown') return entry.ms;
  return entry.kind === 'once_per_about' && key === KEY_OF_NOTHING ? entry.otherwiseMs : null;
}
