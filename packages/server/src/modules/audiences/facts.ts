import { answerQuestions, type PersonQuestion, type WindowAnswers } from './event-questions.ts';
import { findAskedMembers } from './memberships.ts';
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
type Asking = { person: PersonId; editions: { mentions: Mentions }[] };

type TotalKey = Pick<Total, 'projectId' | 'userId' | 'name'>;

export function totalKey({ projectId, userId, name }: TotalKey): string {
  return `${projectId} ${name.length} ${name} ${userId}`;
}

export function questionsOf(asking: Asking[]): PersonQuestion[] {
  const asks: PersonQuestion[] = [];
  for (const { person, editions } of asking) {
    const seen = new Set<string>();
    for (const { mentions } of editions) {
      for (const question of mentions.questions.values()) {
        if (seen.has(question.key)) continue;
        seen.add(question.key);
        asks.push({ projectId: person.projectId, userId: person.userId, question });
      }
    }
  }
  return asks;
}

export function missingTotals(asking: Asking[], known: ReadonlySet<string>): TotalKey[] {
  const missing = new Map<string, TotalKey>();
  for (const { person, editions } of asking) {
    for (const { mentions } of editions) {
      for (const name of mentions.totals) {
        const total = { projectId: person.projectId, userId: person.userId, name };
        const key = totalKey(total);
        if (!known.has(key)) missing.set(key, total);
      }
    }
  }
  return [...missing.values()];
}

export function personFacts(
  windows: WindowAnswers,
  totals: Total[],
): (person: Pick<Person, 'projectId' | 'userId' | 'email' | 'traits'>) => ConditionFacts {
  const totalsOf = new Map(totals.map((total) => [totalKey(total), total]));
  return ({ projectId, userId, email, traits }) => ({
    email,
    trait: (key) => traits.get(key),
    total: (name) => totalsOf.get(totalKey({ projectId, userId, name })),
    nth: (question) => windows.nth({ projectId, userId, question }),
    sum: (question) => windows.sum({ projectId, userId, question }),
  });
}

/** Conditions of rules to evaluate for one user. */
type ConditionAsk = {
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
  asked: ConditionAsk[],
  now: number,
): Promise<Map<string, Facts>> {
  const asking = asked.map(({ person, mentions }) => ({
    person,
    editions: [...mentions].map((one) => ({ mentions: one })),
  }));
  const countedOf = new Map(asked.map(({ person, counted }) => [person.projectId, counted]));
  const [kept, uncounted] = partition(missingTotals(asking, NONE_KNOWN), ({ projectId, userId, name }) =>
    isCountedFor(countedOf.get(projectId)?.get(name), userId),
  );
  const places = asked.map(({ person, audiences }, i) => ({
    projectId: person.projectId,
    userId: person.userId,
    editions: (asking[i]?.editions ?? []).flatMap(({ mentions }) =>
      [...mentions.audiences].flatMap((id) => audiences.editionFor(id) ?? []),
    ),
  }));
  const [windows, totals, stored, members] = await Promise.all([
    answerQuestions(tx, questionsOf(asking), { now }),
    findTotals(tx, kept),
    countStored(tx, uncounted),
    places.some(({ editions }) => editions.length > 0) ? findAskedMembers(tx, places) : [],
  ]);
  const factsOf = personFacts(windows, [...totals, ...stored]);
  return new Map(
    asked.map(({ person, audiences }, i) => {
      const isMember = (id: string): boolean =>
        members[i]?.has(audiences.editionFor(id)?.edition ?? -1) ?? false;
      return [personKey(person), { now, ...factsOf(person), isMember }];
    }),
  );
}

const NONE_KNOWN: ReadonlySet<string> = new Set();

function partition<T>(items: T[], test: (item: T) => boolean): [T[], T[]] {
  const [passing, failing]: [T[], T[]] = [[], []];
  for (const item of items) (test(item) ? passing : failing).push(item);
  return [passing, failing];
}

/** Counts the stored events of a name that has no permanent counts. */
async function countStored(tx: Tx, asked: NamedEvent[]): Promise<Total[]> {
  if (asked.length === 0) return [];
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
      plainList(asked.map(({ projectId }) => projectId)),
      asked.map(({ userId }) => userId),
      asked.map(({ name }) => name),
    ],
  });
  return rows.flatMap(({ n, count, first_ms, last_ms }) => {
    const of = asked[n - 1];
    return of ? [{ ...of, count, firstAt: Math.round(first_ms), lastAt: Math.round(last_ms) }] : [];
  });
}
