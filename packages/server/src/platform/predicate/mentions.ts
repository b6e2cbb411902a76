import {
  boundsOf,
  type CountNode,
  type EdgeNode,
  type Mentions,
  nthQuery,
  type NumberCompare,
  type Predicate,
  type SumNode,
  sumQuery,
  type ValueTest,
} from './predicate.ts';

export function mentionsOf(predicate: Predicate): Mentions {
  const mentions: Mentions = {
    traits: new Set(),
    email: false,
    events: new Set(),
    totals: new Set(),
    queries: new Map(),
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
    const query = sumQuery(node);
    into.queries.set(query.key, query);
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
    const query = nthQuery({ ...node, window }, nth);
    into.queries.set(query.key, query);
  }
}

/** A fixed moment never moves; the others depend on `now`. */
function noteTime(test: ValueTest, into: Mentions): void {
  into.timed ||= 'ms' in test;
}

/**
 * The direction in which one more event can change an answer: `up` only from no to yes, `down` only from yes to no. With the previous
 * answer known, an event that can only confirm it needs no evaluation. Such an event cannot bring `until` forward either.
 */
type Direction = {
  trend: 'up' | 'down' | 'both';
  /** Summed properties: the direction holds only for events in which none of them is negative. */
  notNegative: string[];
};
export type Directions = Map<string, Direction>;

export function directionsOf(predicate: Predicate): Directions {
  const directions: Directions = new Map();
  collectDirections(predicate, 'up', directions);
  return directions;
}

type Trend = Direction['trend'];
const REVERSED: Record<Trend, Trend> = { up: 'down', down: 'up', both: 'both' };

/** `sense`: the direction in which this part changes the whole when it becomes true. */
function collectDirections(predicate: Predicate, sense: 'up' | 'down', into: Directions): void {
  if (predicate.kind === 'not') collectDirections(predicate.of, sense === 'up' ? 'down' : 'up', into);
  else if (predicate.kind === 'all' || predicate.kind === 'any')
    for (const part of predicate.of) collectDirections(part, sense, into);
  else if ('event' in predicate) add(into, predicate.event, directionOf(predicate, sense));
}

function directionOf(node: CountNode | SumNode | EdgeNode, sense: 'up' | 'down'): Direction {
  if (node.kind === 'count') return { trend: orient(COUNT_TRENDS[node.compare], sense), notNegative: [] };
  if (node.kind === 'sum')
    return { trend: orient(SUM_TRENDS[node.compare], sense), notNegative: [node.property] };
  return { trend: 'both', notNegative: [] };
}

const COUNT_TRENDS: Record<'at_least' | 'at_most' | 'exactly', Trend> = {
  at_least: 'up',
  at_most: 'down',
  exactly: 'both',
};
const SUM_TRENDS: Record<NumberCompare, Trend> = {
  at_least: 'up',
  greater_than: 'up',
  at_most: 'down',
  less_than: 'down',
};

function orient(trend: Trend, sense: 'up' | 'down'): Trend {
  return sense === 'up' ? trend : REVERSED[trend];
}

function add(into: Directions, event: string, direction: Direction): void {
  const existing = into.get(event);
  if (!existing) {
    into.set(event, direction);
    return;
  }
  existing.trend = existing.trend === direction.trend ? existing.trend : 'both';
  existing.notNegative = [...existing.notNegative, ...direction.notNegative];
}
