import { EVENT_NAME_MAX_CHARS } from '@beckon/contract';
import type { FieldFault } from '../fault.ts';
import {
  allOf,
  NUMBER_OPS,
  onlyKey,
  readKey,
  readNumber,
  readPastTest,
  readSpan,
  readTest,
  readText,
  readWhere,
  TEXT_OPS,
  TRAIT_OPS,
} from './parse-values.ts';
import {
  CONDITIONS_MAX,
  faultsOf,
  inside,
  isObject,
  type JsonObject,
  keysOf,
  listOf,
  type ParsePosition,
  refuse,
  refuseOthers,
  startParse,
  takeCondition,
} from './place.ts';
import type { Predicate, ValueTest, EventWindow } from './predicate.ts';

type ParsedPredicate = { ok: true; predicate: Predicate } | { ok: false; faults: FieldFault[] };

const DEPTH_MAX = 10;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parses a document to a predicate, or returns all errors, each with its place in the document. */
export function parsePredicate(value: unknown): ParsedPredicate {
  const root = startParse('definition');
  const predicate = readPredicate(root, value);
  const faults = faultsOf(root.state, value);
  return predicate && faults.length === 0 ? { ok: true, predicate } : { ok: false, faults };
}

const GROUPS = ['all', 'any', 'not'] as const;
const SUBJECTS = [...GROUPS, 'trait', 'user', 'event', 'audience'] as const;
type Subject = (typeof SUBJECTS)[number];

/** Also reads a predicate that is part of a larger document. */
export function readPredicate(position: ParsePosition, value: unknown, depth = 1): Predicate | undefined {
  if (depth > DEPTH_MAX) return refuse(position, `must not be nested deeper than ${DEPTH_MAX} levels`);
  if (!isObject(value)) return refuse(position, `must be an object with one of ${listOf(SUBJECTS)}`);
  const [subject, ...others] = keysOf(value, SUBJECTS);
  if (subject === undefined) return refuse(position, `must have one of ${listOf(SUBJECTS)}`);
  if (others.length > 0) {
    return refuse(position, `must have only one of ${listOf([subject, ...others], 'and')}`);
  }
  if (isGroup(subject)) {
    refuseOthers(position, value, [subject]);
    const inner = inside(position, subject);
    if (subject === 'not') return negated(readPredicate(inner, value[subject], depth + 1));
    const of = readList(inner, value[subject], depth + 1);
    return of && { kind: subject, of };
  }
  return takeCondition(position) ? CONDITIONS[subject](position, value) : undefined;
}

function isGroup(subject: Subject): subject is (typeof GROUPS)[number] {
  return (GROUPS as readonly string[]).includes(subject);
}

function negated(of: Predicate | undefined): Predicate | undefined {
  return of && { kind: 'not', of };
}

function readList(position: ParsePosition, value: unknown, depth: number): Predicate[] | undefined {
  if (!Array.isArray(value) || value.length === 0) {
    return refuse(position, 'must be a list of at least one condition');
  }
  if (value.length > CONDITIONS_MAX)
    return refuse(position, `must not have more than ${CONDITIONS_MAX} conditions`);
  return allOf(value.map((item: unknown, i) => readPredicate(inside(position, i), item, depth)));
}

type Condition = (position: ParsePosition, object: JsonObject) => Predicate | undefined;

const CONDITIONS: Record<Exclude<Subject, (typeof GROUPS)[number]>, Condition> = {
  trait: readTrait,
  user: readUser,
  event: readEventCondition,
  audience: readAudience,
};

function readTrait(position: ParsePosition, object: JsonObject): Predicate | undefined {
  const test = readTest(position, object, { subject: ['trait'], ops: TRAIT_OPS });
  const trait = readKey(inside(position, 'trait'), object['trait']);
  return test && trait !== undefined ? { kind: 'trait', trait, test } : undefined;
}

function readUser(position: ParsePosition, object: JsonObject): Predicate | undefined {
  const test = readTest(position, object, { subject: ['user'], ops: TEXT_OPS });
  if (object['user'] !== 'email') return refuse(inside(position, 'user'), 'must be email');
  if (test && !isOfTexts(test)) return refuse(position, 'must compare email with a string');
  return test && { kind: 'user', field: 'email', test };
}

/** An address is always text. Compared with anything else it would never match, without any sign of the reason. */
function isOfTexts(test: ValueTest): boolean {
  if (test.op === 'equals') return typeof test.value === 'string';
  return test.op !== 'one_of' || test.values.every((value) => typeof value === 'string');
}

function readAudience(position: ParsePosition, object: JsonObject): Predicate | undefined {
  refuseOthers(position, object, ['audience']);
  const audienceId = readAudienceId(inside(position, 'audience'), object['audience']);
  return audienceId === undefined ? undefined : { kind: 'audience', audienceId };
}

export function readAudienceId(position: ParsePosition, value: unknown): string | undefined {
  if (typeof value !== 'string' || !UUID.test(value)) return refuse(position, 'must be a UUID');
  return value.toLowerCase();
}

const COUNT_MAX = 1_000;
const COUNT_OPS = ['at_least', 'at_most', 'exactly'] as const;
/** Conditions on an event that do not count its occurrences. */
const SHAPES = ['sum', 'first', 'last'] as const;

function readEventCondition(position: ParsePosition, object: JsonObject): Predicate | undefined {
  const event = readEventName(inside(position, 'event'), object['event']);
  const [shape, ...others] = keysOf(object, SHAPES);
  if (others.length > 0) {
    return refuse(position, `must have only one of ${listOf(keysOf(object, SHAPES), 'and')}`);
  }
  const read = shape === 'sum' ? readSum : shape === undefined ? readCount : readMoment(shape);
  const condition = read(position, object);
  return condition && event !== undefined ? { ...condition, event } : undefined;
}

export function readEventName(position: ParsePosition, value: unknown): string | undefined {
  return readText(position, value, { min: 1, max: EVENT_NAME_MAX_CHARS });
}

type WithoutEvent<K extends Predicate['kind']> = Omit<Extract<Predicate, { kind: K }>, 'event'>;

function readCount(position: ParsePosition, object: JsonObject): WithoutEvent<'count'> | undefined {
  refuseOthers(position, object, ['event', ...COUNT_OPS, 'within', 'where', ...SHAPES]);
  const compare = keysOf(object, COUNT_OPS).length === 0 ? 'at_least' : onlyKey(position, object, COUNT_OPS);
  const least = compare === 'at_least' ? 1 : 0;
  const rawCount = compare && Object.hasOwn(object, compare) ? object[compare] : 1;
  const count = compare && readCountOf(inside(position, compare), rawCount, least);
  const window = Object.hasOwn(object, 'within')
    ? readWindow(position, object)
    : withoutWindow(position, object);
  if (compare === undefined || count === undefined || window === undefined) return undefined;
  return { kind: 'count', compare, count, window };
}

function readCountOf(position: ParsePosition, value: unknown, least: number): number | undefined {
  const fits = Number.isInteger(value) && (value as number) >= least && (value as number) <= COUNT_MAX;
  return fits ? (value as number) : refuse(position, `must be a whole number from ${least} to ${COUNT_MAX}`);
}

/** All occurrences are stored as one number per user, without their properties. */
function withoutWindow(position: ParsePosition, object: JsonObject): null | undefined {
  if (!Object.hasOwn(object, 'where')) return null;
  readWhere(inside(position, 'where'), object['where']);
  return refuse(inside(position, 'within'), 'is required with where');
}

function readWindow(position: ParsePosition, object: JsonObject): EventWindow | undefined {
  const withinMs = readSpan(inside(position, 'within'), object['within']);
  const where = Object.hasOwn(object, 'where') ? readWhere(inside(position, 'where'), object['where']) : [];
  return withinMs === undefined || where === undefined ? undefined : { withinMs, where };
}

function readSum(position: ParsePosition, object: JsonObject): WithoutEvent<'sum'> | undefined {
  refuseOthers(position, object, ['event', 'sum', ...NUMBER_OPS, 'within', 'where']);
  const property = readKey(inside(position, 'sum'), object['sum']);
  const compare = onlyKey(position, object, NUMBER_OPS);
  const than = compare && readNumber(inside(position, compare), object[compare]);
  const window = readWindow(position, object);
  if (property === undefined || compare === undefined || than === undefined || !window) return undefined;
  return { kind: 'sum', property, compare, than, window };
}

function readMoment(kind: 'first' | 'last') {
  return (position: ParsePosition, object: JsonObject): WithoutEvent<'first' | 'last'> | undefined => {
    refuseOthers(position, object, ['event', kind]);
    const test = readPastTest(inside(position, kind), object[kind]);
    return test && { kind, test };
  };
}
