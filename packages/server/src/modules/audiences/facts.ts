import { findWindowResults, type WindowLookup, type WindowResults } from './event-questions.ts';
import { findMemberVersions } from './memberships.ts';
import type { AudienceModel } from './model.ts';
import {
  type CountedNames,
  findTotals,
  isCountedFor,
  type NamedEvent,
  type Person,
  type PersonId,
  personKey,
  type Total,
} from '../users/index.ts';
import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Facts, Mentions } from '../../platform/predicate/predicate.ts';

/** The data about a user that conditions may use, except for their audiences. */
export type ConditionFacts = Omit<Facts, 'now' | 'isMember'>;
/** Definitions to evaluate for one user. */
type EvaluationTarget = { person: PersonId; versions: readonly { mentions: Mentions }[] };

type TotalKey = Pick<Total, 'projectId' | 'userId' | 'name'>;

export function totalKey({ projectId, userId, name }: TotalKey): string {
  return `${projectId} ${name.length} ${name} ${userId}`;
}

export function windowLookups(targets: EvaluationTarget[]): WindowLookup[] {
  const lookups: WindowLookup[] = [];
  for (const { person, versions } of targets) {
    const seen = new Set<string>();
    for (const { mentions } of versions) {
      for (const query of mentions.queries.values()) {
        if (seen.has(query.key)) continue;
        seen.add(query.key);
        lookups.push({ projectId: person.projectId, userId: person.userId, query });
      }
    }
  }
  return lookups;
}

export function missingTotals(targets: EvaluationTarget[], knownKeys: ReadonlySet<string>): TotalKey[] {
  const missing = new Map<string, TotalKey>();
  for (const { person, versions } of targets) {
    for (const { mentions } of versions) {
      for (const name of mentions.totals) {
        const total = { projectId: person.projectId, userId: person.userId, name };
        const key = totalKey(total);
        if (!knownKeys.has(key)) missing.set(key, total);
      }
    }
  }
  return [...missing.values()];
}

export function personFacts(
  windows: WindowResults,
  totals: Total[],
): (person: Pick<Person, 'projectId' | 'userId' | 'email' | 'traits'>) => ConditionFacts {
  const totalsOf = new Map(totals.map((total) => [totalKey(total), total]));
  return ({ projectId, userId, email, traits }) => ({
    email,
    trait: (key) => traits.get(key),
    total: (name) => totalsOf.get(totalKey({ projectId, userId, name })),
    nth: (query) => windows.nth({ projectId, userId, query }),
    sum: (query) => windows.sum({ projectId, userId, query }),
  });
}

/** Conditions of rules to evaluate for one user. */
type ConditionInput = {
  person: Person;
  mentions: Iterable<Mentions>;
  audiences: AudienceModel;
  counted: CountedNames;
};

/**
 * Loads everything that the conditions of rules use, set-wise and as of now, by `personKey`. An event name that is not permanently counted
 * yet is counted from the stored events.
 */
export async function findConditionFacts(
  tx: Tx,
  inputs: ConditionInput[],
  now: number,
): Promise<Map<string, Facts>> {
  const targets = inputs.map(({ person, mentions }) => ({
    person,
    versions: [...mentions].map((entry) => ({ mentions: entry })),
  }));
  const countedOf = new Map(inputs.map(({ person, counted }) => [person.projectId, counted]));
  const [kept, uncounted] = partition(missingTotals(targets, NO_KEYS), ({ projectId, userId, name }) =>
    isCountedFor(countedOf.get(projectId)?.get(name), userId),
  );
  const people = inputs.map(({ person, audiences }, i) => ({
    projectId: person.projectId,
    userId: person.userId,
    versions: (targets[i]?.versions ?? []).flatMap(({ mentions }) =>
      [...mentions.audiences].flatMap((id) => audiences.versionFor(id) ?? []),
    ),
  }));
  const [windows, totals, stored, members] = await Promise.all([
    findWindowResults(tx, windowLookups(targets), { now }),
    findTotals(tx, kept),
    countStored(tx, uncounted),
    people.some(({ versions }) => versions.length > 0) ? findMemberVersions(tx, people) : [],
  ]);
  const factsOf = personFacts(windows, [...totals, ...stored]);
  return new Map(
    inputs.map(({ person, audiences }, i) => {
      const isMember = (id: string): boolean =>
        members[i]?.has(audiences.versionFor(id)?.versionId ?? -1) ?? false;
      return [personKey(person), { now, ...factsOf(person), isMember }];
    }),
  );
}

const NO_KEYS: ReadonlySet<string> = new Set();

function partition<T>(items: T[], test: (item: T) => boolean): [T[], T[]] {
  const [passing, failing]: [T[], T[]] = [[], []];
  for (const item of items) (test(item) ? passing : failing).push(item);
  return [passing, failing];
}

/** Counts the stored events of a name that has no permanent counts. */
async function countStored(tx: Tx, events: NamedEvent[]): Promise<Total[]> {
  if (events.length === 0) return [];
  const rows = await tx.prepared<{ n: number; count: number; first_ms: number; last_ms: number }>({
    name: 'events.count_stored',
    text: `SELECT q.n::int AS n, e.* FROM unnest($1::bigint[], $2::text[], $3::text[])
             WITH ORDINALITY AS q(project_id, user_id, name, n)
           CROSS JOIN LATERAL (
             SELECT count(*)::int AS count, (extract(epoch FROM min(e.occurred_at)) * 1000)::float8 AS first_ms,
               (extract(epoch FROM max(e.occurred_at)) * 1000)::float8 AS last_ms
             FROM beckon.event e
             WHERE e.project_id = q.project_id AND e.external_user_id = q.user_id AND e.name = q.name
           ) e WHERE e.count > 0`,
    values: [
      plainList(events.map(({ projectId }) => projectId)),
      events.map(({ userId }) => userId),
      events.map(({ name }) => name),
    ],
  });
  return rows.flatMap(({ n, count, first_ms, last_ms }) => {
    const event = events[n - 1];
    return event ? [{ ...event, count, firstAt: Math.round(first_ms), lastAt: Math.round(last_ms) }] : [];
  });
}
