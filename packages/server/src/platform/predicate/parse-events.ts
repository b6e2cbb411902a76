import { EVENT_NAME_MAX_CHARS } from '@beckon/contract';
import {
  NUMBER_OPS,
  onlyKey,
  readNumber,
  readPastTest,
  readKey,
  readSpan,
  readText,
  readWhere,
} from './parse-values.ts';
import { inside, type JsonObject, keysOf, listOf, type Place, refuse, refuseOthers } from './place.ts';
import type { Predicate, Window } from './predicate.ts';

const COUNT_MAX = 1_000;
const COUNT_OPS = ['at_least', 'at_most', 'exactly'] as const;
/** Conditions on an event that do not count its occurrences. */
const SHAPES = ['sum', 'first', 'last'] as const;

export function readEventCondition(place: Place, object: JsonObject): Predicate | undefined {
  const event = readEventName(inside(place, 'event'), object['event']);
  const [shape, ...others] = keysOf(object, SHAPES);
  if (others.length > 0) {
    return refuse(place, `must have only one of ${listOf(keysOf(object, SHAPES), 'and')}`);
  }
  const read = shape === 'sum' ? readSum : shape === undefined ? readCount : readMoment(shape);
  const condition = read(place, object);
  return condition && event !== undefined ? { ...condition, event } : undefined;
}

export function readEventName(place: Place, value: unknown): string | undefined {
  return readText(place, value, { min: 1, max: EVENT_NAME_MAX_CHARS });
}

type WithoutEvent<K extends Predicate['kind']> = Omit<Extract<Predicate, { kind: K }>, 'event'>;

function readCount(place: Place, object: JsonObject): WithoutEvent<'count'> | undefined {
  refuseOthers(place, object, ['event', ...COUNT_OPS, 'within', 'where', ...SHAPES]);
  const compare = keysOf(object, COUNT_OPS).length === 0 ? 'at_least' : onlyKey(place, object, COUNT_OPS);
  const least = compare === 'at_least' ? 1 : 0;
  const given = compare && Object.hasOwn(object, compare) ? object[compare] : 1;
  const count = compare && readCountOf(inside(place, compare), given, least);
  const window = Object.hasOwn(object, 'within') ? readWindow(place, object) : withoutWindow(place, object);
  if (compare === undefined || count === undefined || window === undefined) return undefined;
  return { kind: 'count', compare, count, window };
}

function readCountOf(place: Place, value: unknown, least: number): number | undefined {
  const fits = Number.isInteger(value) && (value as number) >= least && (value as number) <= COUNT_MAX;
  return fits ? (value as number) : refuse(place, `must be a whole number from ${least} to ${COUNT_MAX}`);
}

/** All occurrences are stored as one number per user, without their properties. */
function withoutWindow(place: Place, object: JsonObject): null | undefined {
  if (!Object.hasOwn(object, 'where')) return null;
  readWhere(inside(place, 'where'), object['where']);
  return refuse(inside(place, 'within'), 'is required with where');
}

function readWindow(place: Place, object: JsonObject): Window | undefined {
  const withinMs = readSpan(inside(place, 'within'), object['within']);
  const where = Object.hasOwn(object, 'where') ? readWhere(inside(place, 'where'), object['where']) : [];
  return withinMs === undefined || where === undefined ? undefined : { withinMs, where };
}

function readSum(place: Place, object: JsonObject): WithoutEvent<'sum'> | undefined {
  refuseOthers(place, object, ['event', 'sum', ...NUMBER_OPS, 'within', 'where']);
  const property = readKey(inside(place, 'sum'), object['sum']);
  const compare = onlyKey(place, object, NUMBER_OPS);
  const than = compare && readNumber(inside(place, compare), object[compare]);
  const window = readWindow(place, object);
  if (property === undefined || compare === undefined || than === undefined || !window) return undefined;
  return { kind: 'sum', property, compare, than, window };
}

function readMoment(kind: 'first' | 'last') {
  return (place: Place, object: JsonObject): WithoutEvent<'first' | 'last'> | undefined => {
    refuseOthers(place, object, ['event', kind]);
    const test = readPastTest(inside(place, kind), object[kind]);
    return test && { kind, test };
  };
}
