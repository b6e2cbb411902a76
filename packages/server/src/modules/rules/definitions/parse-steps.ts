import { allOf, onlyKey, readText, readWhere } from '../../../platform/predicate/parse-values.ts';
import {
  inside,
  isObject,
  type JsonObject,
  type ParsePosition,
  refuse,
  refuseOthers,
} from '../../../platform/predicate/place.ts';
import { readEventName, readPredicate } from '../../../platform/predicate/parse.ts';
import { complete, optional, readLine, readName, readRequiredSpan } from './parse-fields.ts';
import type { StepEmail, StepEmailText, Step } from './rule.ts';

const STEPS_MAX = 50;
const DEPTH_MAX = 5;
const LINE_MAX_CHARS = 200;
const BODY_MAX_CHARS = 50_000;
const STEPS = ['draft', 'wait', 'wait_until', 'wait_for', 'branch', 'end'] as const;
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

type Kind<K extends Step['kind']> = Extract<Step, { kind: K }>;
/** `counted` is shared by all lists of a rule. */
type Scope = { depth: number; counted: { steps: number; drafts: number } };
type Reader = (place: ParsePosition, object: JsonObject, scope: Scope) => Step | undefined;

export function readSteps(place: ParsePosition, value: unknown): Step[] | undefined {
  if (value === undefined) return refuse(place, 'is required');
  const scope: Scope = { depth: 1, counted: { steps: 0, drafts: 0 } };
  if (Array.isArray(value) && value.length === 0)
    return refuse(place, `must be a list of 1 to ${STEPS_MAX} steps`);
  const steps = readList(place, value, scope);
  if (steps && scope.counted.drafts === 0) return refuse(place, 'must contain a draft step');
  return steps;
}

function readList(place: ParsePosition, value: unknown, scope: Scope): Step[] | undefined {
  if (scope.depth > DEPTH_MAX) return refuse(place, `must not be nested deeper than ${DEPTH_MAX} levels`);
  if (!Array.isArray(value) || value.length > STEPS_MAX)
    return refuse(place, `must be a list of at most ${STEPS_MAX} steps`);
  const steps = allOf(value.map((item: unknown, i) => readStep(inside(place, i), item, scope)));
  const end = steps?.findIndex(({ kind }) => kind === 'end') ?? -1;
  if (steps && end !== -1 && end < steps.length - 1)
    return refuse(inside(place, end + 1), 'must be removed, because the step before it is the end');
  return steps;
}

function readStep(place: ParsePosition, value: unknown, scope: Scope): Step | undefined {
  scope.counted.steps += 1;
  if (scope.counted.steps === STEPS_MAX + 1)
    refuse(place, `must be removed, because a rule has at most ${STEPS_MAX} steps`);
  if (scope.counted.steps > STEPS_MAX) return undefined;
  if (!isObject(value)) return refuse(place, `must be an object with one of ${STEPS.join(', ')}`);
  const kind = onlyKey(place, value, STEPS);
  return kind && READERS[kind](place, value, scope);
}

const READERS: Record<(typeof STEPS)[number], Reader> = {
  draft: readDraft,
  wait: readWait,
  wait_until: readWaitUntil,
  wait_for: readWaitFor,
  branch: readBranch,
  end: readEnd,
};

function readDraft(place: ParsePosition, object: JsonObject, { counted }: Scope): Step | undefined {
  counted.drafts += 1;
  refuseOthers(place, object, ['draft']);
  const email = readEmail(inside(place, 'draft'), object['draft']);
  return email && { kind: 'draft', email };
}

function readEmail(place: ParsePosition, value: unknown): StepEmail | undefined {
  if (typeof value === 'string') {
    const name = readName(place, value);
    return name === undefined ? undefined : { name };
  }
  if (!isObject(value))
    return refuse(place, 'must be the name of a template or an object with subject and body');
  refuseOthers(place, value, ['subject', 'preheader', 'body']);
  return complete<StepEmailText>({
    subject: readLine(inside(place, 'subject'), value['subject'], { min: 1, max: LINE_MAX_CHARS }),
    preheader: optional(place, value, { key: 'preheader', read: readPreheader, otherwise: '' }),
    body: readBody(inside(place, 'body'), value['body']),
  });
}

function readPreheader(place: ParsePosition, value: unknown): string | undefined {
  return readLine(place, value, { min: 0, max: LINE_MAX_CHARS });
}

function readBody(place: ParsePosition, value: unknown): string | undefined {
  const body = readText(place, value, { min: 1, max: BODY_MAX_CHARS });
  return body?.trim() === '' ? refuse(place, 'must not be empty') : body;
}

function readWait(place: ParsePosition, object: JsonObject): Step | undefined {
  refuseOthers(place, object, ['wait']);
  const ms = readRequiredSpan(inside(place, 'wait'), object['wait']);
  return ms === undefined ? undefined : { kind: 'wait', ms };
}

function readWaitUntil(place: ParsePosition, object: JsonObject): Step | undefined {
  refuseOthers(place, object, ['wait_until']);
  const inner = inside(place, 'wait_until');
  const until = object['wait_until'];
  if (!isObject(until)) return refuse(inner, 'must be an object with at and optional weekdays');
  refuseOthers(inner, until, ['weekdays', 'at']);
  const weekdays = optional(inner, until, {
    key: 'weekdays',
    read: readWeekdays,
    otherwise: WEEKDAYS.map((_, i) => i + 1),
  });
  const at = until['at'];
  if (typeof at !== 'string' || !CLOCK.test(at))
    return refuse(inside(inner, 'at'), 'must be a time of day such as 09:00, from 00:00 to 23:59');
  return weekdays && { kind: 'wait_until', weekdays, at };
}

function readWeekdays(place: ParsePosition, value: unknown): number[] | undefined {
  const names: readonly string[] = WEEKDAYS;
  const given: unknown[] = Array.isArray(value) ? value : [];
  const days = WEEKDAYS.flatMap((name, i) => (given.includes(name) ? [i + 1] : []));
  const isKnown = given.every((name) => typeof name === 'string' && names.includes(name));
  if (days.length > 0 && isKnown && days.length === given.length) return days;
  return refuse(place, `must be a list with values of ${WEEKDAYS.join(', ')}, none of them twice`);
}

function readWaitFor(place: ParsePosition, object: JsonObject, scope: Scope): Step | undefined {
  refuseOthers(place, object, ['wait_for', 'then', 'else']);
  const inner = inside(place, 'wait_for');
  const wanted = object['wait_for'];
  const ways = waysOf(place, object, scope);
  if (!isObject(wanted)) return refuse(inner, 'must be an object with event and within');
  refuseOthers(inner, wanted, ['event', 'where', 'within']);
  return complete<Kind<'wait_for'>>({
    kind: 'wait_for',
    event: readEventName(inside(inner, 'event'), wanted['event']),
    where: optional(inner, wanted, { key: 'where', read: readWhere, otherwise: [] }),
    timeoutMs: readRequiredSpan(inside(inner, 'within'), wanted['within']),
    ...ways,
  });
}

function readBranch(place: ParsePosition, object: JsonObject, scope: Scope): Step | undefined {
  refuseOthers(place, object, ['branch', 'then', 'else']);
  const inner = inside(place, 'branch');
  const asked = object['branch'];
  const ways = waysOf(place, object, scope);
  if (!isObject(asked)) return refuse(inner, 'must be an object with if');
  refuseOthers(inner, asked, ['if']);
  if (!Object.hasOwn(asked, 'if')) return refuse(inside(inner, 'if'), 'is required');
  const condition = readPredicate(inside(inner, 'if'), asked['if']);
  return complete<Kind<'branch'>>({ kind: 'branch', if: condition, ...ways });
}

function waysOf(place: ParsePosition, object: JsonObject, { depth, counted }: Scope) {
  const read = (inner: ParsePosition, value: unknown): Step[] | undefined =>
    readList(inner, value, { depth: depth + 1, counted });
  return {
    then: optional(place, object, { key: 'then', read, otherwise: [] }),
    otherwise: optional(place, object, { key: 'else', read, otherwise: [] }),
  };
}

function readEnd(place: ParsePosition, object: JsonObject): Step | undefined {
  refuseOthers(place, object, ['end']);
  return object['end'] === true ? { kind: 'end' } : refuse(inside(place, 'end'), 'must be true');
}
