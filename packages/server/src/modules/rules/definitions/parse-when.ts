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
const readSomeEvents = namesReader(readEventName, { min: 1, max: EVENTS_MAX, of: 'names of events' });

/** Reads one trigger or a list of triggers. */
export function readWhen(place: ParsePosition, value: unknown): Trigger[] | undefined {
  if (value === undefined) return refuse(place, 'is required');
  if (!Array.isArray(value)) {
    const only = readTrigger(place, value);
    return only && [only];
  }
  if (value.length === 0 || value.length > TRIGGERS_MAX)
    return refuse(place, `must be a trigger or a list of 1 to ${TRIGGERS_MAX} of them`);
  return allOf(value.map((item: unknown, i) => readTrigger(inside(place, i), item)));
}

function readTrigger(place: ParsePosition, value: unknown): Trigger | undefined {
  if (!isObject(value))
    return refuse(place, 'must be an object with event, audience, relative_to or absence_of');
  const kind = onlyKey(place, value, TRIGGERS);
  return kind && READERS[kind](place, value);
}

type Reader = (place: ParsePosition, object: JsonObject) => Trigger | undefined;

const READERS: Record<(typeof TRIGGERS)[number], Reader> = {
  event: readEvent,
  audience: readMove,
  relative_to: readRelative,
  absence_of: readAbsence,
};

function readEvent(place: ParsePosition, object: JsonObject): Trigger | undefined {
  refuseOthers(place, object, ['event', 'where', 'ends_in_days']);
  return complete<Extract<Trigger, { kind: 'event' }>>({
    kind: 'event',
    event: readEventName(inside(place, 'event'), object['event']),
    where: whereOf(place, object),
    endsInDays: optional<string | null>(place, object, {
      key: 'ends_in_days',
      read: readKey,
      otherwise: null,
    }),
  });
}

function whereOf(place: ParsePosition, object: JsonObject): PropertyTest[] | undefined {
  return optional(place, object, { key: 'where', read: readWhere, otherwise: [] });
}

function readMove(place: ParsePosition, object: JsonObject): Trigger | undefined {
  refuseOthers(place, object, ['audience', 'move']);
  return complete<Extract<Trigger, { kind: 'audience' }>>({
    kind: 'audience',
    audienceId: readAudienceId(inside(place, 'audience'), object['audience']),
    move:
      MOVES.find((move) => move === object['move']) ??
      refuse(inside(place, 'move'), 'must be joined or left'),
  });
}

function readRelative(place: ParsePosition, object: JsonObject): Trigger | undefined {
  refuseOthers(place, object, ['relative_to', 'before', 'after']);
  const side = onlyKey(place, object, ['before', 'after'] as const);
  const ms = side && readRequiredSpan(inside(place, side), object[side]);
  const inner = inside(place, 'relative_to');
  const to = object['relative_to'];
  if (!isObject(to)) return refuse(inner, 'must be an object with event or trait');
  const subject = onlyKey(inner, to, ['event', 'trait'] as const);
  if (subject === 'trait') {
    refuseOthers(inner, to, ['trait']);
    const trait = readKey(inside(inner, 'trait'), to['trait']);
    return complete<Extract<Trigger, { kind: 'date' }>>({ kind: 'date', trait, side, ms });
  }
  return subject && readRelativeToEvent(place, to, { side, ms });
}

function readRelativeToEvent(
  place: ParsePosition,
  to: JsonObject,
  { side, ms }: { side: 'before' | 'after' | undefined; ms: number | undefined },
): Trigger | undefined {
  const inner = inside(place, 'relative_to');
  refuseOthers(inner, to, ['event', 'where', 'plus_days']);
  const plusDays = optional<string | null>(inner, to, { key: 'plus_days', read: readKey, otherwise: null });
  if (side === 'before' && plusDays === null)
    refuse(inside(place, 'before'), 'needs plus_days: a single event is known only after it happens');
  return complete<Extract<Trigger, { kind: 'relative' }>>({
    kind: 'relative',
    event: readEventName(inside(inner, 'event'), to['event']),
    where: whereOf(inner, to),
    plusDays,
    side,
    ms,
  });
}

function readAbsence(place: ParsePosition, object: JsonObject): Trigger | undefined {
  refuseOthers(place, object, ['absence_of', 'since', 'for']);
  const of = readSomeEvents(inside(place, 'absence_of'), object['absence_of']);
  const ms = readRequiredSpan(inside(place, 'for'), object['for']);
  const inner = inside(place, 'since');
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
  place: ParsePosition,
  value: unknown,
): NonNullable<Definition['about']> | undefined {
  if (!isObject(value)) return refuse(place, 'must be an object with event and until');
  refuseOthers(place, value, ['event', 'until']);
  const event = readEventName(inside(place, 'event'), value['event']);
  const until = optional(place, value, { key: 'until', read: readEventNames, otherwise: [] });
  const itself = until?.findIndex((name) => name === event) ?? -1;
  if (itself !== -1)
    refuse(inside(inside(place, 'until'), itself), 'must be a different event from the trigger');
  return complete<NonNullable<Definition['about']>>({ event, until });
}
