import { allOf, onlyKey, readKey, readWhere } from '../../../platform/predicate/parse-values.ts';
import {
  inside,
  isObject,
  type JsonObject,
  type ParsePosition,
  refuse,
  refuseOthers,
} from '../../../platform/predicate/place.ts';
import type { PropertyTest } from '../../../platform/predicate/predicate.ts';
import { readAudienceId, readEventName } from '../../../platform/predicate/parse.ts';
import { complete, optional, namesReader, readRequiredSpan } from './parse-fields.ts';
import type { Definition, Trigger } from './rule.ts';

const TRIGGERS_MAX = 10;
const EVENTS_MAX = 20;
const TRIGGERS = ['event', 'audience', 'relative_to', 'absence_of'] as const;
const MOVES = ['joined', 'left'] as const;

export const readEventNames = namesReader(readEventName, { min: 0, max: EVENTS_MAX, of: 'names of events' });
const readRequiredEvents = namesReader(readEventName, { min: 1, max: EVENTS_MAX, of: 'names of events' });

/** Reads one trigger or a list of triggers. */
export function readWhen(position: ParsePosition, value: unknown): Trigger[] | undefined {
  if (value === undefined) return refuse(position, 'is required');
  if (!Array.isArray(value)) {
    const only = readTrigger(position, value);
    return only && [only];
  }
  if (value.length === 0 || value.length > TRIGGERS_MAX)
    return refuse(position, `must be a trigger or a list of 1 to ${TRIGGERS_MAX} of them`);
  return allOf(value.map((item: unknown, i) => readTrigger(inside(position, i), item)));
}

function readTrigger(position: ParsePosition, value: unknown): Trigger | undefined {
  if (!isObject(value))
    return refuse(position, 'must be an object with event, audience, relative_to or absence_of');
  const kind = onlyKey(position, value, TRIGGERS);
  return kind && READERS[kind](position, value);
}

type Reader = (position: ParsePosition, object: JsonObject) => Trigger | undefined;

const READERS: Record<(typeof TRIGGERS)[number], Reader> = {
  event: readEvent,
  audience: readMove,
  relative_to: readRelative,
  absence_of: readAbsence,
};

function readEvent(position: ParsePosition, object: JsonObject): Trigger | undefined {
  refuseOthers(position, object, ['event', 'where', 'ends_in_days']);
  return complete<Extract<Trigger, { kind: 'event' }>>({
    kind: 'event',
    event: readEventName(inside(position, 'event'), object['event']),
    where: whereOf(position, object),
    endsInDays: optional<string | null>(position, object, {
      key: 'ends_in_days',
      read: readKey,
      otherwise: null,
    }),
  });
}

function whereOf(position: ParsePosition, object: JsonObject): PropertyTest[] | undefined {
  return optional(position, object, { key: 'where', read: readWhere, otherwise: [] });
}

function readMove(position: ParsePosition, object: JsonObject): Trigger | undefined {
  refuseOthers(position, object, ['audience', 'move']);
  return complete<Extract<Trigger, { kind: 'audience' }>>({
    kind: 'audience',
    audienceId: readAudienceId(inside(position, 'audience'), object['audience']),
    move:
      MOVES.find((move) => move === object['move']) ??
      refuse(inside(position, 'move'), 'must be joined or left'),
  });
}

function readRelative(position: ParsePosition, object: JsonObject): Trigger | undefined {
  refuseOthers(position, object, ['relative_to', 'before', 'after']);
  const side = onlyKey(position, object, ['before', 'after'] as const);
  const ms = side && readRequiredSpan(inside(position, side), object[side]);
  const inner = inside(position, 'relative_to');
  const to = object['relative_to'];
  if (!isObject(to)) return refuse(inner, 'must be an object with event or trait');
  const subject = onlyKey(inner, to, ['event', 'trait'] as const);
  if (subject === 'trait') {
    refuseOthers(inner, to, ['trait']);
    const trait = readKey(inside(inner, 'trait'), to['trait']);
    return complete<Extract<Trigger, { kind: 'date' }>>({ kind: 'date', trait, side, ms });
  }
  return subject && readRelativeToEvent(position, to, { side, ms });
}

function readRelativeToEvent(
  position: ParsePosition,
  to: JsonObject,
  { side, ms }: { side: 'before' | 'after' | undefined; ms: number | undefined },
): Trigger | undefined {
  const inner = inside(position, 'relative_to');
  refuseOthers(inner, to, ['event', 'where', 'plus_days']);
  const plusDays = optional<string | null>(inner, to, { key: 'plus_days', read: readKey, otherwise: null });
  if (side === 'before' && plusDays === null)
    refuse(inside(position, 'before'), 'needs plus_days: a single event is known only after it happens');
  return complete<Extract<Trigger, { kind: 'relative' }>>({
    kind: 'relative',
    event: readEventName(inside(inner, 'event'), to['event']),
    where: whereOf(inner, to),
    plusDays,
    side,
    ms,
  });
}

function readAbsence(position: ParsePosition, object: JsonObject): Trigger | undefined {
  refuseOthers(position, object, ['absence_of', 'since', 'for']);
  const of = readRequiredEvents(inside(position, 'absence_of'), object['absence_of']);
  const ms = readRequiredSpan(inside(position, 'for'), object['for']);
  const inner = inside(position, 'since');
  const since = object['since'];
  if (!isObject(since)) return refuse(inner, 'must be an object with event');
  refuseOthers(inner, since, ['event', 'where']);
  return complete<Extract<Trigger, { kind: 'absence' }>>({
    kind: 'absence',
    since: readEventName(inside(inner, 'event'), since['event']),
    where: whereOf(inner, since),
    of,
    ms,
  });
}

export function readAbout(
  position: ParsePosition,
  value: unknown,
): NonNullable<Definition['about']> | undefined {
  if (!isObject(value)) return refuse(position, 'must be an object with event and until');
  refuseOthers(position, value, ['event', 'until']);
  const event = readEventName(inside(position, 'event'), value['event']);
  const until = optional(position, value, { key: 'until', read: readEventNames, otherwise: [] });
  const itself = until?.findIndex((name) => name === event) ?? -1;
  if (itself !== -1)
    refuse(inside(inside(position, 'until'), itself), 'must be a different event from the trigger');
  return complete<NonNullable<Definition['about']>>({ event, until });
}
