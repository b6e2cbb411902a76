import {
  addVerdicts,
  answerQuestions,
  type Edition,
  findAskedDues,
  findAskedMembers,
  judge,
  type Latest,
  missingTotals,
  noWrites,
  type ConditionFacts,
  personFacts,
  questionsOf,
  type MembershipState,
  type StandingWrites,
  totalKey,
  type MembershipEvaluation,
} from '../audiences/index.ts';
import type { Decision, Model } from '../rules/index.ts';
import { findTotals, type Person, type Total } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** A user for whom some editions have to be evaluated. */
export type PersonToEvaluate = {
  person: Person;
  model: Pick<Model, 'audiences'>;
  editions: Edition[];
  /** The user's memberships in these editions and in those that they refer to, if already known. */
  members?: ReadonlySet<number>;
  /** True if the times stored for this user have passed; see `judge`. */
  fired?: boolean;
};

export type AudienceEvaluation = PersonToEvaluate & { verdicts: MembershipEvaluation[] };

type AskOptions = {
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
export async function askAudiences(
  tx: Tx,
  asked: PersonToEvaluate[],
  options: AskOptions,
): Promise<AudienceEvaluation[]> {
  const asking = asked.filter(({ editions }) => editions.length > 0);
  const counting = new Set(options.totals?.of.map(totalKey));
  const slices: Promise<AudienceEvaluation[]>[] = [];
  for (let from = 0; from < asking.length; from += SLICE)
    slices.push(askSlice(tx, asking.slice(from, from + SLICE), { ...options, counting }));
  return (await Promise.all(slices)).flat();
}

type SliceOptions = AskOptions & { counting: ReadonlySet<string> };

async function askSlice(
  tx: Tx,
  asking: PersonToEvaluate[],
  options: SliceOptions,
): Promise<AudienceEvaluation[]> {
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
type Gathered = { standings: MembershipState[]; factsOf: (person: Person) => ConditionFacts };

export async function gatherFacts(
  tx: Tx,
  asking: PersonToEvaluate[],
  options: SliceOptions,
): Promise<Gathered> {
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
  const standings = asking.map((one, i): MembershipState => ({
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
const NO_STANDING: MembershipState = { members: NOWHERE, dues: NOTHING_DUE };

/** Returns what to write after the evaluations; new members join now. */
export function writesOf(answered: AudienceEvaluation[], now: number): StandingWrites {
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

export function transitionsOf(answered: AudienceEvaluation[]): Transition[] {
  return answered.flatMap(({ person, verdicts }) =>
    verdicts.flatMap(({ edition, move }) =>
      move === 'none' || edition.state !== 'served'
        ? []
        : [{ projectId: person.projectId, userId: person.userId, audienceId: edition.audienceId, move }],
    ),
  );
}

type Move = { audienceId: string; move: 'joined' | 'left' };

/** A change of definition is neither a join nor a leave. Rules with such a trigger log it as the reason why no run began. */
export function notConsidered(
  { rules }: Pick<Model, 'rules'>,
  { projectId, userId }: Pick<Person, 'projectId' | 'userId'>,
  { audienceId, move, now }: Move & { now: number },
): Decision[] {
  return rules.onMove(audienceId, move).map(({ rule }) => ({
    projectId,
    userId,
    ruleId: rule.id,
    key: '',
    reason: 'definition_change',
    detail: { audience_id: audienceId, move },
    at: now,
  }));
}

/**
 * Returns decisions for users whom a record or time moved into or out of an edition that is not served yet. Users who made the same move in
 * the served edition are left out. When the new edition is served, they are already in or out, so the build reports nothing about them.
 */
export function unheardMoves(
  answered: AudienceEvaluation[],
  models: Map<number, Model>,
  now: number,
): Decision[] {
  return answered.flatMap(({ person, verdicts }) => {
    const model = models.get(person.projectId);
    const moves = verdicts.filter(({ move }) => move !== 'none');
    const isHeard = (one: (typeof moves)[number]): boolean =>
      moves.some(
        ({ edition, move }) =>
          edition.state === 'served' && edition.audienceId === one.edition.audienceId && move === one.move,
      );
    return moves.flatMap((one) => {
      if (!model || one.move === 'none' || isHeard(one)) return [];
      return notConsidered(model, person, { audienceId: one.edition.audienceId, move: one.move, now });
    });
  });
}
