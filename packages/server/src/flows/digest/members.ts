import {
  addVerdicts,
  type Edition,
  findAskedDues,
  findAskedMembers,
  judge,
  noWrites,
  type Standing,
  type StandingWrites,
  type Verdict,
} from '../../features/audiences/index.ts';
import { answerQuestions, findTotals, type Latest, type Total } from '../../features/events/index.ts';
import type { Person } from '../../features/people/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { missingTotals, type PersonFacts, personFacts, questionsOf, totalKey } from '../facts.ts';
import type { Model } from '../models.ts';

/** One person about whom some editions have to be asked. */
export type Asked = {
  person: Person;
  model: Pick<Model, 'audiences'>;
  editions: Edition[];
  /** In which of them, and of those that they refer to, the person is, where that is known already. */
  members?: ReadonlySet<number>;
  /** The moments stored for this person have come: see `judge`. */
  fired?: boolean;
};

export type Answered = Asked & { verdicts: Verdict[] };

export type AskOptions = {
  now: number;
  /** Totals that this batch is just counting: whose they are, and what they come to. */
  totals?: { of: Pick<Total, 'projectId' | 'userId' | 'name'>[]; counted: Promise<Total[]> };
  /** The newest occurrence in this batch of each event of each person. */
  latest?: Latest;
};

/** While the answers about one slice are read here, the database looks for those about the next. */
const SLICE = 250;

/**
 * Asks the audiences about people: everything that their editions look at is fetched set-wise, whatever number of people,
 * projects and editions there is; then each is answered in memory. One way for the digest, the timer and the builder.
 */
export async function askAudiences(tx: Tx, asked: Asked[], options: AskOptions): Promise<Answered[]> {
  const asking = asked.filter(({ editions }) => editions.length > 0);
  const counting = new Set(options.totals?.of.map(totalKey));
  const slices: Promise<Answered[]>[] = [];
  for (let from = 0; from < asking.length; from += SLICE)
    slices.push(askSlice(tx, asking.slice(from, from + SLICE), { ...options, counting }));
  return (await Promise.all(slices)).flat();
}

type SliceOptions = AskOptions & { counting: ReadonlySet<string> };

async function askSlice(tx: Tx, asking: Asked[], options: SliceOptions): Promise<Answered[]> {
  const { standings, factsOf } = await gatherFacts(tx, asking, options);
  return asking.map((one, i) => {
    const { person, editions, fired = false } = one;
    const standing = standings[i] ?? NO_STANDING;
    const facts = factsOf(person);
    const judged = { userId: person.userId, now: options.now, standing, fired, facts };
    return { ...one, verdicts: judge(editions, judged) };
  });
}

/** Standings are in the order of those asked about. */
export type Gathered = { standings: Standing[]; factsOf: (person: Person) => PersonFacts };

export async function gatherFacts(tx: Tx, asking: Asked[], options: SliceOptions): Promise<Gathered> {
  const { now, latest, counting, totals } = options;
  const people = asking.map(({ person: { projectId, userId }, editions }) => ({
    projectId,
    userId,
    editions,
  }));
  const known = asking.every(({ members }) => members !== undefined);
  const [members, dues, windows, found, counted = []] = await Promise.all([
    known ? [] : findAskedMembers(tx, people),
    findAskedDues(tx, people),
    answerQuestions(tx, questionsOf(asking), { now, ...(latest && { latest }) }),
    findTotals(tx, missingTotals(asking, counting)),
    totals?.counted,
  ]);
  const standings = asking.map((one, i): Standing => ({
    members: one.members ?? members[i] ?? NOWHERE,
    dues: dues[i] ?? NOTHING_DUE,
  }));
  return {
    standings,
    factsOf: personFacts(windows, [...found, ...counted]),
  };
}

const NOWHERE: ReadonlySet<number> = new Set();
const NOTHING_DUE = new Map<number, number>();
const NO_STANDING: Standing = { members: NOWHERE, dues: NOTHING_DUE };

/** What has to be written after the answers; those who join do so now. */
export function writesOf(answered: Answered[], now: number): StandingWrites {
  const writes = noWrites();
  const since = new Date(now);
  for (const { person, verdicts } of answered)
    addVerdicts(writes, { projectId: person.projectId, userId: person.userId, verdicts, since });
  return writes;
}

/** For each project, the first of the moments that were stored anew. */
export function firstDues(writes: StandingWrites): { projectId: number; nextAt: Date }[] {
  const first = new Map<number, Date>();
  for (const { projectId, at } of writes.due) {
    const known = first.get(projectId);
    if (!known || at < known) first.set(projectId, at);
  }
  return [...first].map(([projectId, nextAt]) => ({ projectId, nextAt }));
}

/** A join or a leave that rules and the stream hear of: in an edition that everybody sees. */
export type Transition = {
  projectId: number;
  userId: string;
  audienceId: string;
  move: 'joined' | 'left';
};

export function transitionsOf(answered: Answered[]): Transition[] {
  return answered.flatMap(({ person, verdicts }) =>
    verdicts.flatMap(({ edition, move }) =>
      move === 'none' || edition.state !== 'served'
        ? []
        : [{ projectId: person.projectId, userId: person.userId, audienceId: edition.audienceId, move }],
    ),
  );
}
