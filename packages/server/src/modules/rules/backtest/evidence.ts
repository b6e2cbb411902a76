import type { Facts, Mentions } from '../../../platform/predicate/predicate.ts';
import { findMemberVersions } from '../../audiences/index.ts';
import {
  evaluateWindowAsOf,
  countAsOf,
  findFirstAfter,
  findNewestAsOf,
  findWatermarksAsOf,
} from '../event-history.ts';
import { findPeople, personKey, type Person } from '../../users/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { ActiveRule } from '../definitions/model.ts';
import type { Anchor, Newest } from '../definitions/rule.ts';
import type { Model } from '../project-model.ts';

/** A user and a time at which the rule is to be evaluated for them. */
export type EvaluationPoint = { userId: string; at: number; anchor: Anchor };

/** The data about a user at that time. Traits and audiences are those of today. */
export type BacktestEvidence = {
  person: Person;
  facts: Facts;
  newest: Newest;
  /** Time of the first event that ends the run; null if the time range has no such event. */
  exitAt: number | null;
};

export type EvidenceQuery = { projectId: number; rule: ActiveRule; model: Model; until: number };

const AT_ONCE = 500;

/** Returns the evidence in the order of the points; undefined for a user who no longer exists. */
export async function loadEvidence(
  tx: Tx,
  points: EvaluationPoint[],
  query: EvidenceQuery,
): Promise<(BacktestEvidence | undefined)[]> {
  const found: (BacktestEvidence | undefined)[] = [];
  for (let from = 0; from < points.length; from += AT_ONCE)
    found.push(...(await loadChunk(tx, points.slice(from, from + AT_ONCE), query)));
  return found;
}

async function loadChunk(
  tx: Tx,
  points: EvaluationPoint[],
  query: EvidenceQuery,
): Promise<(BacktestEvidence | undefined)[]> {
  const people = await findPeopleAsOf(tx, points, query);
  const newest = await findNewestOfAll(tx, points, query);
  const facts = await findFacts(tx, points, query);
  const exits = await findExits(tx, points, query);
  return points.map((_, i) => {
    const person = people[i];
    const [newestOf, factsOf] = [newest[i], facts[i]];
    if (!person || !newestOf || !factsOf) return undefined;
    return { person, newest: newestOf, facts: factsOf(person), exitAt: exits[i] ?? null };
  });
}

/** Derives from the events received by then whether triggers were suppressed for the user. */
async function findPeopleAsOf(
  tx: Tx,
  points: EvaluationPoint[],
  { projectId }: EvidenceQuery,
): Promise<(Person | undefined)[]> {
  const users = [...new Set(points.map(({ userId }) => userId))];
  const today = await findPeople(
    tx,
    users.map((userId) => ({ projectId, userId })),
  );
  const byKey = new Map(today.map((person) => [personKey(person), person]));
  const people = points.map(({ userId }) => byKey.get(personKey({ projectId, userId })));
  // A user without a suppressed event has no watermark to look up.
  const marked = points.flatMap((point, i) => (people[i]?.suppressedSeq == null ? [] : [{ ...point, i }]));
  const marks = await findWatermarksAsOf(
    tx,
    marked.map(({ userId, at: by }) => ({ projectId, userId, by })),
  );
  for (const [n, { i }] of marked.entries()) {
    const person = people[i];
    if (person) people[i] = { ...person, ...marks[n] };
  }
  return people;
}

async function findNewestOfAll(
  tx: Tx,
  points: EvaluationPoint[],
  { projectId, rule }: EvidenceQuery,
): Promise<Newest[]> {
  const names = [...rule.conditions.looksUp];
  const queries = names.flatMap((name) =>
    points.map(({ userId, at: by }) => ({ projectId, userId, by, name })),
  );
  const found = await findNewestAsOf(tx, queries);
  return points.map((_, i) => {
    const byName = new Map(names.map((name, n) => [name, found[n * points.length + i]]));
    return (event) => byName.get(event);
  });
}

type FactsOf = (person: Person) => Facts;

async function findFacts(tx: Tx, points: EvaluationPoint[], query: EvidenceQuery): Promise<FactsOf[]> {
  const { projectId, rule } = query;
  const mentions = mentionedBy(rule.conditions.mentions);
  const users = points.map(({ userId, at: by }) => ({ projectId, userId, by }));
  const totals = new Map<string, Awaited<ReturnType<typeof countAsOf>>>();
  for (const name of mentions.totals)
    totals.set(
      name,
      await countAsOf(
        tx,
        users.map((user) => ({ ...user, name })),
      ),
    );
  const values = new Map<string, Awaited<ReturnType<typeof evaluateWindowAsOf>>>();
  for (const query of mentions.queries.values())
    values.set(query.key, await evaluateWindowAsOf(tx, query, users));
  const members = await findMembers(tx, points, { query, audiences: mentions.audiences });
  return points.map(({ at: now }, i) => ({ email, traits }) => ({
    now,
    email,
    trait: (key) => traits.get(key),
    total: (name) => totals.get(name)?.[i],
    nth: ({ key }) => values.get(key)?.[i]?.at ?? null,
    sum: ({ key }) => {
      const value = values.get(key)?.[i];
      return { sum: value?.sum ?? 0, oldestAt: value?.at ?? null };
    },
    isMember: members[i] ?? isNeverMember,
  }));
}

type MentionSets = Pick<Mentions, 'totals' | 'queries' | 'audiences'>;

function mentionedBy(all: Mentions[]): MentionSets {
  const union: MentionSets = { totals: new Set(), queries: new Map(), audiences: new Set() };
  for (const { totals, queries, audiences } of all) {
    for (const name of totals) union.totals.add(name);
    for (const [key, query] of queries) union.queries.set(key, query);
    for (const id of audiences) union.audiences.add(id);
  }
  return union;
}

const isNeverMember = (): boolean => false;

async function findMembers(
  tx: Tx,
  points: EvaluationPoint[],
  { query, audiences }: { query: EvidenceQuery; audiences: ReadonlySet<string> },
): Promise<((audienceId: string) => boolean)[]> {
  const { projectId, model } = query;
  const versions = [...audiences].flatMap((id) => model.audiences.versionFor(id) ?? []);
  if (versions.length === 0) return [];
  const people = points.map(({ userId }) => ({ projectId, userId, versions }));
  const members = await findMemberVersions(tx, people);
  return members.map((of) => (id) => of.has(model.audiences.versionFor(id)?.versionId ?? -1));
}

/**
 * Finds the first exit event, or the first newer event of the rule's subject, which replaces the old one. For dates and joins the time of
 * the cause counts, as it does for active runs.
 */
async function findExits(
  tx: Tx,
  points: EvaluationPoint[],
  { projectId, rule, until }: EvidenceQuery,
): Promise<(number | null)[]> {
  const { exits, about } = rule.definition;
  const names = [...new Set([...exits.events, ...(about ? [about.event] : [])])];
  const queries = points.map(({ userId, at: by, anchor }) => ({
    projectId,
    userId,
    by,
    since: anchor.kind === 'event' ? anchor.occurredAt : anchor.acceptedAt,
  }));
  return findFirstAfter(tx, { queries, names, until });
}
