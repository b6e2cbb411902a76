import type { NumberCompare, Predicate } from './predicate.ts';
import type { CountNode, EdgeNode, SumNode } from './questions.ts';

/**
 * The direction in which one more event can change an answer: `up` only from no to yes, `down` only from yes to no. With the previous
 * answer known, an event that can only confirm it needs no evaluation. Such an event cannot bring `until` forward either.
 */
export type Direction = {
  way: 'up' | 'down' | 'both';
  /** Summed properties: the direction holds only for events in which none of them is negative. */
  notNegative: string[];
};
export type Directions = Map<string, Direction>;

export function directionsOf(predicate: Predicate): Directions {
  const directions: Directions = new Map();
  collect(predicate, 'up', directions);
  return directions;
}

type Way = Direction['way'];
const TURNED: Record<Way, Way> = { up: 'down', down: 'up', both: 'both' };

/** `sense`: the direction in which this part changes the whole when it becomes true. */
function collect(predicate: Predicate, sense: 'up' | 'down', into: Directions): void {
  if (predicate.kind === 'not') collect(predicate.of, sense === 'up' ? 'down' : 'up', into);
  else if (predicate.kind === 'all' || predicate.kind === 'any')
    for (const part of predicate.of) collect(part, sense, into);
  else if ('event' in predicate) add(into, predicate.event, directionOf(predicate, sense));
}

function directionOf(node: CountNode | SumNode | EdgeNode, sense: 'up' | 'down'): Direction {
  if (node.kind === 'count') return { way: turn(COUNT_WAYS[node.compare], sense), notNegative: [] };
  if (node.kind === 'sum') return { way: turn(SUM_WAYS[node.compare], sense), notNegative: [node.property] };
  return { way: 'both', notNegative: [] };
}

const COUNT_WAYS: Record<'at_least' | 'at_most' | 'exactly', Way> = {
  at_least: 'up',
  at_most: 'down',
  exactly: 'both',
};
const SUM_WAYS: Record<NumberCompare, Way> = {
  at_least: 'up',
  greater_than: 'up',
  at_most: 'down',
  less_than: 'down',
};

function turn(way: Way, sense: 'up' | 'down'): Way {
  return sense === 'up' ? way : TURNED[way];
}

function add(into: Directions, event: string, direction: Direction): void {
  const known = into.get(event);
  if (!known) {
    into.set(event, direction);
    return;
  }
  known.way = known.way === direction.way ? known.way : 'both';
  known.notNegative = [...known.notNegative, ...direction.notNegative];
}
