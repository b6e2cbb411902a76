import type { Facts, Mentions } from '../../../platform/predicate/predicate.ts';
import { findAskedMembers } from '../../audiences/index.ts';
import {
  answerThen,
  countThen,
  findFirstAfter,
  findNewestThen,
  findWatermarkThen,
} from '../event-history.ts';
import { findPeople, personKey, type Person } from '../../users/index.ts';
import type { ActiveRule, Anchor, Newest, Model } from '../../rules/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';

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

/** Returns the evidence in the order of the places; undefined for a user who no longer exists. */
export async function gatherEvidence(
  tx: Tx,
  places: EvaluationPoint[],
  asked: EvidenceQuery,
): Promise<(BacktestEvidence | undefined)[]> {
  const found: (BacktestEvidence | undefined)[] = [];
  for (let from = 0; from < places.length; from += AT_ONCE)
    found.push(...(await gatherSome(tx, places.slice(from, from + AT_ONCE), asked)));
  return found;
}

async function gatherSome(
  tx: Tx,
  places: EvaluationPoint[],
  asked: EvidenceQuery,
): Promise<(BacktestEvidence | undefined)[]> {
  const people = await findPeopleThen(tx, places, asked);
  const newest = await findNewestOfAll(tx, places, asked);
  const facts = await findFacts(tx, places, asked);
  const exits = await findExits(tx, places, asked);
  return places.map((_, i) => {
    const person = people[i];
    const [newestOf, factsOf] = [newest[i], facts[i]];
    if (!person || !newestOf || !factsOf) return undefined;
    return { person, newest: newestOf, facts: factsOf(person), exitAt: exits[i] ?? null };
  });
}

/** Derives from the events received by then whether triggers were suppressed for the user. */
async function findPeopleThen(
  tx: Tx,
  places: EvaluationPoint[],
  { projectId }: EvidenceQuery,
): Promise<(Person | undefined)[]> {
  const users = [...new Set(places.map(({ userId }) => userId))];
  const today = await findPeople(
    tx,
    users.map((userId) => ({ projectId, userId })),
  );
  const byKey = new Map(today.map((person) => [personKey(person), person]));
  const people = places.map(({ userId }) => byKey.get(personKey({ projectId, userId })));
  // A user without a suppressed event has no watermark to look up.
  const marked = places.flatMap((place, i) => (people[i]?.suppressedSeq == null ? [] : [{ ...place, i }]));
  const marks = await findWatermarkThen(
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
  places: EvaluationPoint[],
  { projectId, rule }: EvidenceQuery,
): Promise<Newest[]> {
  const names = [...rule.conditions.looksUp];
  const asks = names.flatMap((name) => places.map(({ userId, at: by }) => ({ projectId, userId, by, name })));
  const found = await findNewestThen(tx, asks);
  return places.map((_, i) => {
    const byName = new Map(names.map((name, n) => [name, found[n * places.length + i]]));
    return (event) => byName.get(event);
  });
}

type FactsOf = (person: Person) => Facts;

async function findFacts(tx: Tx, places: EvaluationPoint[], asked: EvidenceQuery): Promise<FactsOf[]> {
  const { projectId, rule } = asked;
  const mentions = mentionedBy(rule.conditions.mentions);
  const asks = places.map(({ userId, at: by }) => ({ projectId, userId, by }));
  const totals = new Map<string, Awaited<ReturnType<typeof countThen>>>();
  for (const name of mentions.totals)
    totals.set(
      name,
      await countThen(
        tx,
        asks.map((ask) => ({ ...ask, name })),
      ),
    );
  const answers = new Map<string, Awaited<ReturnType<typeof answerThen>>>();
  for (const question of mentions.questions.values())
    answers.set(question.key, await answerThen(tx, question, asks));
  const members = await findMembers(tx, places, { asked, audiences: mentions.audiences });
  return places.map(({ at: now }, i) => ({ email, traits }) => ({
    now,
    email,
    trait: (key) => traits.get(key),
    total: (name) => totals.get(name)?.[i],
    nth: ({ key }) => answers.get(key)?.[i]?.at ?? null,
    sum: ({ key }) => {
      const answer = answers.get(key)?.[i];
      return { sum: answer?.sum ?? 0, oldestAt: answer?.at ?? null };
    },
    isMember: members[i] ?? isNowhere,
  }));
}

type Mentioned = Pick<Mentions, 'totals' | 'questions' | 'audiences'>;

function mentionedBy(all: Mentions[]): Mentioned {
  const union: Mentioned = { totals: new Set(), questions: new Map(), audiences: new Set() };
  for (const { totals, questions, audiences } of all) {
    for (const name of totals) union.totals.add(name);
    for (const [key, question] of questions) union.questions.set(key, question);
    for (const id of audiences) union.audiences.add(id);
  }
  return union;
}

const isNowhere = (): boolean => false;

async function findMembers(
  tx: Tx,
  places: EvaluationPoint[],
  { asked, audiences }: { asked: EvidenceQuery; audiences: ReadonlySet<string> },
): Promise<((audienceId: string) => boolean)[]> {
  const { projectId, model } = asked;
  const editions = [...audiences].flatMap((id) => model.audiences.editionFor(id) ?? []);
  if (editions.length === 0) return [];
  const people = places.map(({ userId }) => ({ projectId, userId, editions }));
  const members = await findAskedMembers(tx, people);
  return members.map((of) => (id) => of.has(model.audiences.editionFor(id)?.edition ?? -1));
}

/**
 * Finds the first exit event, or the first newer event of the rule's subject, which replaces the old one. For dates and joins the time of
 * the cause counts, as it does for active runs.
 */
async function findExits(
  tx: Tx,
  places: EvaluationPoint[],
  { projectId, rule, until }: EvidenceQuery,
): Promise<(number | null)[]> {
  const { exits, about } = rule.definition;
  const names = [...new Set([...exits.events, ...(about ? [about.event] : [])])];
  const asked = places.map(({ userId, at: by, anchor }) => ({
    projectId,
    userId,
    by,
    since: anchor.kind === 'event' ? anchor.occurredAt : anchor.acceptedAt,
  }));
  return findFirstAfter(tx, { asked, names, until });
}
