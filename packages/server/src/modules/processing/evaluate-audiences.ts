import {
  addVerdicts,
  findAskedDues,
  findAskedMembers,
  noWrites,
  type StandingWrites,
  type Edition,
  judge,
  type Standing,
  type Verdict,
  answerQuestions,
  type Latest,
  missingTotals,
  type PersonFacts,
  personFacts,
  questionsOf,
  totalKey,
} from '../audiences/index.ts';
import { findTotals, type Total, type Person } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Model } from '../rules/index.ts';

/** A user for whom some editions have to be evaluated. */
export type Asked = {
  person: Person;
  model: Pick<Model, 'audiences'>;
  editions: Edition[];
  /** The user's memberships in these editions and in those that they refer to, if already known. */
  members?: ReadonlySet<number>;
  /** True if the times stored for this user have passed; see `judge`. */
  fired?: boolean;
};

export type Answered = Asked & { verdicts: Verdict[] };

export type AskOptions = {
  now: number;
  /** Totals that this batch is counting: whose they are, and the pending result. */
  totals?: { of: Pick<Total, 'projectId' | 'userId' | 'name'>[]; counted: Promise<Total[]> };
  /** The latest occurrence in this batch of each event of each user. */
  latest?: Latest;
};

/** The database fetches the data of the next slice while this one is evaluated. */
const SLICE = 250;

/**
 * Evaluates audiences for users. Everything that the editions depend on is fetched set-wise, however many users, projects and editions
 * there are. Then each user is evaluated in memory. Processing, timers and builds all use this function.
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

/** `standings` has the order of the users that were passed in. */
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

/** Returns what to write after the evaluations; new members join now. */
export function writesOf(answered: Answered[], now: number): StandingWrites {
  const writes = noWrites();
  const since = new Date(now);
  for (const { person, verdicts } of answered)
    addVerdicts(writes, { projectId: person.projectId, userId: person.userId, verdicts, since });
  return writes;
}

/** Returns, for each project, the earliest of the newly stored due times. */
export function firstDues(writes: StandingWrites): { projectId: number; nextAt: Date }[] {
  const first = new Map<number, Date>();
  for (const { projectId, at } of writes.due) {
    const known = first.get(projectId);
    if (!known || at < known) first.set(projectId, at);
  }
  return [...first].map(([projectId, nextAt]) => ({ projectId, nextAt }));
}

/** A join or leave in a served edition, which rules and the change stream see. */
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
