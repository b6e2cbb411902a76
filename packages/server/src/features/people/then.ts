import { isSame } from './person.ts';

/**
 * What a person was at a moment that lies back, told by what is known now and by the changes that were kept, and by nothing else.
 *
 * A live change says of each trait what it was and what it became. Between two of them a trait keeps its value, unless an import
 * came in that time: imports say that people changed, and not who or how. So each trait is told from the later side (what the next
 * change found, or what is there now) and from the earlier side (what the last change left). A side is good if no import lies
 * between; one good side is enough.
 */
export type KeptChange = {
  at: number;
  isCreated: boolean;
  /** What each was and what it became; null: not set. */
  traits: Record<string, [unknown, unknown]>;
  /** The address itself is in no change. */
  email: boolean;
};

export type Kept = {
  now: { at: number; traits: ReadonlyMap<string, unknown>; email: string | null; firstSeenAt: number };
  /** The oldest first. */
  changes: KeptChange[];
  /** When people were made or changed by imports. */
  imports: number[];
};

/**
 * `same_around_import`: an import lies on both sides, and the value is the same beyond both. `import`: it is not, or nothing is
 * known beyond. `not_kept`: it changed later, and what it was before is kept nowhere.
 */
export type Certainty = 'exact' | 'same_around_import' | 'import' | 'not_kept';

/** `value` is undefined where it was not set, and where it is not known. */
export type Known<T> = { value: T | undefined; certainty: Certainty };
/** `others`: how sure it is that there was no other trait; an import may have taken away one that nobody remembers. */
export type PersonThen = { email: Known<string>; traits: Map<string, Known<unknown>>; others: Certainty };

/** Null: nobody knew them then. */
export function personThen(kept: Kept, at: number): PersonThen | null {
  const created = kept.changes.findLast(({ isCreated }) => isCreated);
  if (at < (created?.at ?? kept.now.firstSeenAt)) return null;
  const names = new Set(kept.now.traits.keys());
  for (const { traits } of kept.changes) for (const name of Object.keys(traits)) names.add(name);
  const traits = new Map<string, Known<unknown>>();
  for (const name of [...names].toSorted()) {
    const found = traitThen(kept, name, at);
    if (found.value !== undefined || found.certainty !== 'exact') traits.set(name, found);
  }
  return { email: emailThen(kept, at), traits, others: traitThen(kept, NO_NAME, at).certainty };
}

/** No trait is called so. */
const NO_NAME = '';

type Side = { value: unknown; isGood: boolean };

function traitThen(kept: Kept, name: string, at: number): Known<unknown> {
  const [later, earlier] = [laterSide(kept, name, at), earlierSide(kept, name, at)];
  if (later.isGood) return { value: later.value, certainty: 'exact' };
  if (!earlier) return { value: undefined, certainty: 'import' };
  if (earlier.isGood) return { value: earlier.value, certainty: 'exact' };
  if (isSame(earlier.value, later.value)) return { value: later.value, certainty: 'same_around_import' };
  return { value: undefined, certainty: 'import' };
}

function laterSide({ now, changes, imports }: Kept, name: string, at: number): Side {
  const next = changes.find((change) => change.at > at && Object.hasOwn(change.traits, name));
  const isGood = !importBetween(imports, at, next?.at ?? now.at);
  return { value: next ? unset(next.traits[name]?.[0]) : now.traits.get(name), isGood };
}

/** Somebody who was made by a live record had nothing else then. */
function earlierSide({ changes, imports }: Kept, name: string, at: number): Side | null {
  const last = changes.findLast(
    (change) => change.at <= at && (change.isCreated || Object.hasOwn(change.traits, name)),
  );
  return last ? { value: unset(last.traits[name]?.[1]), isGood: !importSince(imports, last.at, at) } : null;
}

function emailThen({ now, changes, imports }: Kept, at: number): Known<string> {
  const next = changes.find((change) => change.at > at && change.email);
  const last = changes.findLast((change) => change.at <= at && (change.isCreated || change.email));
  const hadNone = last && !last.email && !importSince(imports, last.at, at);
  if (hadNone) return { value: undefined, certainty: 'exact' };
  if (next) return { value: undefined, certainty: 'not_kept' };
  if (!importBetween(imports, at, now.at)) return { value: now.email ?? undefined, certainty: 'exact' };
  // Its own change would say that it was set, but not to what: only that it is still the same can be guessed.
  return { value: undefined, certainty: 'import' };
}

/** After `from`, and not after `until`. */
function importBetween(imports: number[], from: number, until: number): boolean {
  return imports.some((at) => at > from && at <= until);
}

/** One that came in the very millisecond of the change may have come behind it. */
function importSince(imports: number[], from: number, until: number): boolean {
  return imports.some((at) => at >= from && at <= until);
}

function unset(value: unknown): unknown {
  return value === null ? undefined : value;
}
