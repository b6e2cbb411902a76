import type { Mentions, Predicate, ValueTest } from './predicate.ts';
import {
  boundsOf,
  type CountNode,
  type EdgeNode,
  nthQuestion,
  type SumNode,
  sumQuestion,
} from './questions.ts';

export function mentionsOf(predicate: Predicate): Mentions {
  const mentions: Mentions = {
    traits: new Set(),
    email: false,
    events: new Set(),
    totals: new Set(),
    questions: new Map(),
    audiences: new Set(),
    timed: false,
  };
  collect(predicate, mentions);
  return mentions;
}

function collect(predicate: Predicate, into: Mentions): void {
  switch (predicate.kind) {
    case 'all':
    case 'any':
      for (const child of predicate.of) collect(child, into);
      return;
    case 'not':
      return collect(predicate.of, into);
    case 'trait':
      into.traits.add(predicate.trait);
      return noteTime(predicate.test, into);
    case 'user':
      into.email = true;
      return;
    case 'count':
    case 'sum':
    case 'first':
    case 'last':
      into.events.add(predicate.event);
      return collectOfEvent(predicate, into);
    case 'audience':
      into.audiences.add(predicate.audienceId);
      return;
    default:
      return predicate satisfies never;
  }
}

function collectOfEvent(node: CountNode | SumNode | EdgeNode, into: Mentions): void {
  if (node.kind === 'count') return collectCount(node, into);
  if (node.kind === 'sum') {
    const question = sumQuestion(node);
    into.questions.set(question.key, question);
    into.timed = true;
    return;
  }
  into.totals.add(node.event);
  noteTime(node.test, into);
}

function collectCount(node: CountNode, into: Mentions): void {
  const { window } = node;
  if (window === null) {
    into.totals.add(node.event);
    return;
  }
  into.timed = true;
  const { least, beyond } = boundsOf(node);
  for (const nth of [least, beyond]) {
    if (nth === null) continue;
    const question = nthQuestion({ ...node, window }, nth);
    into.questions.set(question.key, question);
  }
}

/** A fixed moment never moves; the others depend on `now`. */
function noteTime(test: ValueTest, into: Mentions): void {
  into.timed ||= 'ms' in test;
}
