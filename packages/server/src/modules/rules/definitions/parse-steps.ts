import { allOf, onlyKey, readText, readWhere } from '../../../platform/predicate/parse-values.ts';
import {
  inside,
  isObject,
  type JsonObject,
  type ParsePosition,
  refuse,
  refuseOthers,
  startParse,
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
type Reader = (position: ParsePosition, object: JsonObject, scope: Scope) => Step | undefined;

export function readSteps(position: ParsePosition, value: unknown): Step[] | undefined {
  if (value === undefined) return refuse(position, 'is required');
  const scope: Scope = { depth: 1, counted: { steps: 0, drafts: 0 } };
  if (Array.isArray(value) && value.length === 0)
    return refuse(position, `must be a list of 1 to ${STEPS_MAX} steps`);
  const steps = readList(position, value, scope);
  if (steps && scope.counted.drafts === 0) return refuse(position, 'must contain a draft step');
  return steps;
}

/** Reads a step without its branches, outside of a rule. Undefined: it has errors. */
export function readSingleStep(value: unknown): Step | undefined {
  return readStep(startParse('rule'), value, { depth: 1, counted: { steps: 0, drafts: 0 } });
}

function readList(position: ParsePosition, value: unknown, scope: Scope): Step[] | undefined {
  if (scope.depth > DEPTH_MAX) return refuse(position, `must not be nested deeper than ${DEPTH_MAX} levels`);
  if (!Array.isArray(value) || value.length > STEPS_MAX)
    return refuse(position, `must be a list of at most ${STEPS_MAX} steps`);
  const steps = allOf(value.map((item: unknown, i) => readStep(inside(position, i), item, scope)));
  const end = steps?.findIndex(({ kind }) => kind === 'end') ?? -1;
  if (steps && end !== -1 && end < steps.length - 1)
    return refuse(inside(position, end + 1), 'must be removed, because the step before it is the end');
  return steps;
}

function readStep(position: ParsePosition, value: unknown, scope: Scope): Step | undefined {
  scope.counted.steps += 1;
  if (scope.counted.steps === STEPS_MAX + 1)
    refuse(position, `must be removed, because a rule has at most ${STEPS_MAX} steps`);
  if (scope.counted.steps > STEPS_MAX) return undefined;
  if (!isObject(value)) return refuse(position, `must be an object with one of ${STEPS.join(', ')}`);
  const kind = onlyKey(position, value, STEPS);
  return kind && READERS[kind](position, value, scope);
}

const READERS: Record<(typeof STEPS)[number], Reader> = {
  draft: readDraft,
  wait: readWait,
  wait_until: readWaitUntil,
  wait_for: readWaitFor,
  branch: readBranch,
  end: readEnd,
};

function readDraft(position: ParsePosition, object: JsonObject, { counted }: Scope): Step | undefined {
  counted.drafts += 1;
  refuseOthers(position, object, ['draft']);
  const email = readEmail(inside(position, 'draft'), object['draft']);
  return email && { kind: 'draft', email };
}

function readEmail(position: ParsePosition, value: unknown): StepEmail | undefined {
  if (typeof value === 'string') {
    const name = readName(position, value);
    return name === undefined ? undefined : { name };
  }
  if (!isObject(value))
    return refuse(position, 'must be the name of a template or an object with subject and body');
  refuseOthers(position, value, ['subject', 'preheader', 'body']);
  return complete<StepEmailText>({
    subject: readLine(inside(position, 'subject'), value['subject'], { min: 1, max: LINE_MAX_CHARS }),
    preheader: optional(position, value, { key: 'preheader', read: readPreheader, otherwise: '' }),
    body: readBody(inside(position, 'body'), value['body']),
  });
}

function readPreheader(position: ParsePosition, value: unknown): string | undefined {
  return readLine(position, value, { min: 0, max: LINE_MAX_CHARS });
}

function readBody(position: ParsePosition, value: unknown): string | undefined {
  const body = readText(position, value, { min: 1, max: BODY_MAX_CHARS });
  return body?.trim() === '' ? refuse(position, 'must not be empty') : body;
}

function readWait(position: ParsePosition, object: JsonObject): Step | undefined {
  refuseOthers(position, object, ['wait']);
  const ms = readRequiredSpan(inside(position, 'wait'), object['wait']);
  return ms === undefined ? undefined : { kind: 'wait', ms };
}

function readWaitUntil(position: ParsePosition, object: JsonObject): Step | undefined {
  refuseOthers(position, object, ['wait_until']);
  const inner = inside(position, 'wait_until');
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

function readWeekdays(position: ParsePosition, value: unknown): number[] | undefined {
  const names: readonly string[] = WEEKDAYS;
  const values: unknown[] = Array.isArray(value) ? value : [];
  const days = WEEKDAYS.flatMap((name, i) => (values.includes(name) ? [i + 1] : []));
  const areValid = values.every((name) => typeof name === 'string' && names.includes(name));
  if (days.length > 0 && areValid && days.length === values.length) return days;
  return refuse(position, `must be a list with values of ${WEEKDAYS.join(', ')}, none of them twice`);
}

function readWaitFor(position: ParsePosition, object: JsonObject, scope: Scope): Step | undefined {
  refuseOthers(position, object, ['wait_for', 'then', 'else']);
  const inner = inside(position, 'wait_for');
  const waitFor = object['wait_for'];
  const branches = readBranches(position, object, scope);
  if (!isObject(waitFor)) return refuse(inner, 'must be an object with event and within');
  refuseOthers(inner, waitFor, ['event', 'where', 'within']);
  return complete<Kind<'wait_for'>>({
    kind: 'wait_for',
    event: readEventName(inside(inner, 'event'), waitFor['event']),
    where: optional(inner, waitFor, { key: 'where', read: readWhere, otherwise: [] }),
    timeoutMs: readRequiredSpan(inside(inner, 'within'), waitFor['within']),
    ...branches,
  });
}

function readBranch(position: ParsePosition, object: JsonObject, scope: Scope): Step | undefined {
  refuseOthers(position, object, ['branch', 'then', 'else']);
  const inner = inside(position, 'branch');
  const branch = object['branch'];
  const branches = readBranches(position, object, scope);
  if (!isObject(branch)) return refuse(inner, 'must be an object with if');
  refuseOthers(inner, branch, ['if']);
  if (!Object.hasOwn(branch, 'if')) return refuse(inside(inner, 'if'), 'is required');
  const condition = readPredicate(inside(inner, 'if'), branch['if']);
  return complete<Kind<'branch'>>({ kind: 'branch', if: condition, ...branches });
}

function readBranches(position: ParsePosition, object: JsonObject, { depth, counted }: Scope) {
  const read = (inner: ParsePosition, value: unknown): Step[] | undefined =>
    readList(inner, value, { depth: depth + 1, counted });
  return {
    then: optional(position, object, { key: 'then', read, otherwise: [] }),
    otherwise: optional(position, object, { key: 'else', read, otherwise: [] }),
  };
}

function readEnd(position: ParsePosition, object: JsonObject): Step | undefined {
  refuseOthers(position, object, ['end']);
  return object['end'] === true ? { kind: 'end' } : refuse(inside(position, 'end'), 'must be true');
}
