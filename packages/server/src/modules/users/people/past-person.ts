import { listNoted } from './list-noted.ts';
import { findPeople, type PersonId } from './people.ts';
import { isSame, type Person } from './person.ts';
import { listImports } from './reads.ts';
import { unknownPerson } from './show-person.ts';
import { getSettings } from '../../workspace/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';

type PastPersonQuery = PersonId & { at: number; now: number };

/** `unknown`: the changes of that time are no longer kept. `keptSince`: the time from which they are; null means all of them. */
type PastPersonResult = { keptSince: number | null } & (
  | { state: 'known'; past: PastPerson }
  | { state: 'not_created' | 'unknown' }
);

/** Reconstructs what was known about a user at an earlier time, by undoing the stored changes. */
export async function findPastPerson(tx: Tx, query: PastPersonQuery): Promise<PastPersonResult> {
  const { projectId, at, now } = query;
  if (at > now) throw fromTheFuture();
  const [person] = await findPeople(tx, [query]);
  if (!person) throw unknownPerson(query.userId);
  const { keepStreamMs } = (await getSettings(tx, projectId)).settings;
  const keptSince = keepStreamMs === null ? null : now - keepStreamMs;
  if (keptSince !== null && at < keptSince) return { keptSince, state: 'unknown' };
  const past = await reconstructPerson(tx, person, query);
  return past ? { keptSince, state: 'known', past } : { keptSince, state: 'not_created' };
}

function fromTheFuture(): Fault {
  return new Fault('validation_failed', {
    details: [{ message: 'at must not be in the future', field: 'at' }],
  });
}

const PAGE = 1_000;

async function reconstructPerson(
  tx: Tx,
  person: Person,
  { projectId, userId, at, now }: PastPersonQuery,
): Promise<PastPerson | null> {
  const changes: KeptChange[] = [];
  for await (const page of listNoted(tx, { projectId, userId, pageOf: PAGE }))
    for (const { at: changedAt, kind, detail } of page)
      if (kind === 'user_created' || kind === 'user_changed')
        changes.push({
          at: changedAt.getTime(),
          isCreated: kind === 'user_created',
          traits: (detail['traits'] ?? {}) as KeptChange['traits'],
          email: detail['email'] !== undefined,
        });
  const since = Math.min(at, changes[0]?.at ?? at);
  const imports = await listImports(tx, projectId, new Date(since));
  const { traits, email, firstSeenAt } = person;
  return pastPerson({ now: { at: now, traits, email, firstSeenAt }, changes, imports }, at);
}

/**
 * Reconstructs a user at a past time from the current data and the stored changes only.
 *
 * A live change contains the old and new value of each trait. Between two changes a trait keeps its value, unless an import came in that
 * time. Imports record that users changed, but not which users or how. So each trait is derived from two sides. The later side is the old
 * value in the next change, or the current value. The earlier side is the new value in the last change. A side is reliable without an
 * import in between, and one reliable side is enough.
 */
type KeptChange = {
  at: number;
  isCreated: boolean;
  /** The old and new value of each trait, null if not set. */
  traits: Record<string, [unknown, unknown]>;
  /** The address itself is not stored in changes. */
  email: boolean;
};

type PersonHistory = {
  now: { at: number; traits: ReadonlyMap<string, unknown>; email: string | null; firstSeenAt: number };
  /** Oldest first. */
  changes: KeptChange[];
  /** When imports created or changed users. */
  imports: number[];
};

/**
 * `same_around_import`: each side has an import, and the values beyond are equal. `import`: they differ or are unknown. `not_kept`: it
 * changed later, and the earlier value was not stored.
 */
export type Certainty = 'exact' | 'same_around_import' | 'import' | 'not_kept';

/** `value` is undefined if it was not set or is unknown. */
export type PastValue<T> = { value: T | undefined; certainty: Certainty };
/** `others`: how certain it is that there were no other traits. An import may have removed one without a record. */
export type PastPerson = {
  email: PastValue<string>;
  traits: Map<string, PastValue<unknown>>;
  others: Certainty;
};

/** Returns null if the user did not exist at that time. */
function pastPerson(history: PersonHistory, at: number): PastPerson | null {
  const created = history.changes.findLast(({ isCreated }) => isCreated);
  if (at < (created?.at ?? history.now.firstSeenAt)) return null;
  const names = new Set(history.now.traits.keys());
  for (const { traits } of history.changes) for (const name of Object.keys(traits)) names.add(name);
  const traits = new Map<string, PastValue<unknown>>();
  for (const name of [...names].toSorted()) {
    const found = pastTrait(history, name, at);
    if (found.value !== undefined || found.certainty !== 'exact') traits.set(name, found);
  }
  return { email: pastEmail(history, at), traits, others: pastTrait(history, NO_NAME, at).certainty };
}

/** No trait has this name. */
const NO_NAME = '';

type Side = { value: unknown; isGood: boolean };

function pastTrait(history: PersonHistory, name: string, at: number): PastValue<unknown> {
  const [later, earlier] = [laterSide(history, name, at), earlierSide(history, name, at)];
  if (later.isGood) return { value: later.value, certainty: 'exact' };
  if (!earlier) return { value: undefined, certainty: 'import' };
  if (earlier.isGood) return { value: earlier.value, certainty: 'exact' };
  if (isSame(earlier.value, later.value)) return { value: later.value, certainty: 'same_around_import' };
  return { value: undefined, certainty: 'import' };
}

function laterSide({ now, changes, imports }: PersonHistory, name: string, at: number): Side {
  const next = changes.find((change) => change.at > at && Object.hasOwn(change.traits, name));
  const isGood = !importBetween(imports, at, next?.at ?? now.at);
  return { value: next ? unset(next.traits[name]?.[0]) : now.traits.get(name), isGood };
}

/** A user created by a live record had no other traits at that time. */
function earlierSide({ changes, imports }: PersonHistory, name: string, at: number): Side | null {
  const last = changes.findLast(
    (change) => change.at <= at && (change.isCreated || Object.hasOwn(change.traits, name)),
  );
  return last ? { value: unset(last.traits[name]?.[1]), isGood: !importSince(imports, last.at, at) } : null;
}

function pastEmail({ now, changes, imports }: PersonHistory, at: number): PastValue<string> {
  const next = changes.find((change) => change.at > at && change.email);
  const last = changes.findLast((change) => change.at <= at && (change.isCreated || change.email));
  const hadNone = last && !last.email && !importSince(imports, last.at, at);
  if (hadNone) return { value: undefined, certainty: 'exact' };
  if (next) return { value: undefined, certainty: 'not_kept' };
  if (!importBetween(imports, at, now.at)) return { value: now.email ?? undefined, certainty: 'exact' };
  // A change records only that the address was set, not its value. That it is still the same would be a guess.
  return { value: undefined, certainty: 'import' };
}

/** Returns whether an import came after `from` and up to `until`. */
function importBetween(imports: number[], from: number, until: number): boolean {
  return imports.some((at) => at > from && at <= until);
}

/** Includes an import in the same millisecond as the change, because it may have come after it. */
function importSince(imports: number[], from: number, until: number): boolean {
  return imports.some((at) => at >= from && at <= until);
}

function unset(value: unknown): unknown {
  return value === null ? undefined : value;
}
