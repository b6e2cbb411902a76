import { evaluate, type Facts } from '../../base/predicate/index.ts';
import { covers, type Edition } from './model.ts';

/** What is stored of one person: in which editions since when, and at what moments which must be asked again. */
export type Standing = { members: { has(edition: number): boolean }; dues: Map<number, number> };

export type Verdict = {
  edition: Edition;
  holds: boolean;
  was: boolean;
  move: 'joined' | 'left' | 'none';
  /** The next moment at which time alone may change the answer; null where it never does. */
  dueAt: number | null;
  dueWas: number | null;
  due: 'set' | 'remove' | 'keep';
};

export type Judged = {
  /** Which audiences the person is in is answered here, from the verdicts already given and else from the standing. */
  facts: Omit<Facts, 'now' | 'isMember'>;
  standing: Standing;
  userId: string;
  now: number;
  /** The stored moments of these editions have come: each is replaced by its next one, or is gone. */
  fired?: boolean;
};

/**
 * Asks the editions (in the order of the model) about one person. An edition that is not built as far as this person is
 * left out; the builder passes the one that it builds by `builtUpTo`.
 */
export function judge(editions: Edition[], person: Judged): Verdict[] {
  const verdicts = new Map<number, Verdict>();
  const facts = factsOf(person);
  for (const edition of editions) {
    if (covers(edition, person.userId))
      verdicts.set(edition.edition, judgeOne(edition, facts, { verdicts, person }));
  }
  return [...verdicts.values()];
}

/** The edition as it will be when everybody up to this person is built. */
export function builtUpTo(edition: Edition, userId: string): Edition {
  return { ...edition, builtTo: userId };
}

type Verdicts = Map<number, Verdict>;

function factsOf({ facts, now }: Judged): Omit<Facts, 'isMember'> {
  return {
    now,
    email: facts.email,
    trait: (key) => facts.trait(key),
    total: (event) => facts.total(event),
    nth: (question) => facts.nth(question),
    sum: (question) => facts.sum(question),
  };
}

function judgeOne(
  edition: Edition,
  facts: Omit<Facts, 'isMember'>,
  { verdicts, person }: { verdicts: Verdicts; person: Judged },
): Verdict {
  const { holds, until } = evaluate(edition.predicate, { ...facts, isMember });
  const was = person.standing.members.has(edition.edition);
  const dueWas = person.standing.dues.get(edition.edition) ?? null;
  const dueAt = edition.timed ? earliest([until, ...[...edition.references.values()].map(dueOf)]) : null;
  const move = holds === was ? 'none' : holds ? 'joined' : 'left';
  return { edition, holds, was, move, dueAt, dueWas, due: dueMove(dueAt, dueWas, person.fired ?? false) };

  function isMember(audienceId: string): boolean {
    const reference = edition.references.get(audienceId);
    if (reference === undefined) return false;
    return verdicts.get(reference)?.holds ?? person.standing.members.has(reference);
  }

  /** The answer to a reference is only good for as long as the audience referred to keeps its own. */
  function dueOf(reference: number): number | null {
    const judged = verdicts.get(reference);
    return judged ? judged.dueAt : (person.standing.dues.get(reference) ?? null);
  }
}

/**
 * A stored moment that is too early costs one question for nothing; to move it with every event would cost a write each.
 * So it stays, fires, and is replaced then.
 */
function dueMove(dueAt: number | null, dueWas: number | null, fired: boolean): Verdict['due'] {
  if (dueAt === null) return fired && dueWas !== null ? 'remove' : 'keep';
  if (dueWas === null || dueAt < dueWas) return 'set';
  return fired && dueAt > dueWas ? 'set' : 'keep';
}

function earliest(moments: (number | null)[]): number | null {
  return moments.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
}
