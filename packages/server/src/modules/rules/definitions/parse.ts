import {
  complete,
  namesReader,
  optional,
  readBoolean,
  readName,
  readRequiredSpan,
  wholeNumber,
} from './parse-fields.ts';
import { readSteps } from './parse-steps.ts';
import { readAbout, readEventNames, readWhen } from './parse-when.ts';
import type { Definition, EnrollmentLimit, Rule } from './rule.ts';
import type { FieldFault } from '../../../platform/fault.ts';
import { onlyKey, readKey, readPropertyTest, readSpan } from '../../../platform/predicate/parse-values.ts';
import { readPredicate } from '../../../platform/predicate/parse.ts';
import {
  faultsOf,
  inside,
  isObject,
  type JsonObject,
  type ParsePosition,
  refuse,
  refuseOthers,
  startReading,
  takeCondition,
} from '../../../platform/predicate/place.ts';
import type { Predicate, PropertyTest } from '../../../platform/predicate/predicate.ts';
import { DURATION_SYNTAX, parseDuration } from '../../../platform/time/time-text.ts';

export type ParsedRule = Pick<Rule, 'name' | 'mode' | 'deadlineMs'> & { definition: Definition };
type RuleParsing = { ok: true; rule: ParsedRule } | { ok: false; faults: FieldFault[] };

const HOUR_MS = 3_600_000;
const DOCUMENT_MAX_KIB = 512;
const DEADLINE_MIN_MS = 1_000;
const DEADLINE_MAX_MS = 30 * 24 * HOUR_MS;
const MODES = ['autopilot', 'draft'] as const;

/** Defaults for everything that a rule leaves out. */
export const DEFAULTS = {
  maxEventAgeMs: 24 * HOUR_MS,
  priority: 50,
  holdoutPercent: 0,
  expiresAfterMs: 72 * HOUR_MS,
} as const;

const DEFINITION_KEYS = [
  'when',
  'about',
  'only_if',
  'enrollment',
  'exits',
  'goal',
  'max_event_age',
  'priority',
  'holdout',
  'counts',
  'topic',
  'tracking',
  'expires_after',
  'steps',
] as const;
const RULE_KEYS = ['name', 'mode', 'deadline', ...DEFINITION_KEYS];

/** Parses a document into a rule, or into all of its errors, each with its path in the document. */
export function parseRule(document: unknown): RuleParsing {
  const root = startReading('rule');
  const rule = readRule(root, document);
  const faults = faultsOf(root.reading, document);
  return rule && faults.length === 0 ? { ok: true, rule } : { ok: false, faults };
}

/** Parses a stored version, which `documentOf` wrote. */
export function parseDefinition(stored: unknown): Definition {
  const root = startReading('rule');
  const definition = isObject(stored) ? readDefinition(root, stored) : undefined;
  const [fault] = faultsOf(root.reading, stored);
  if (definition && !fault) return definition;
  throw new Error(`a stored version of a rule cannot be read: ${fault?.message ?? 'it is not an object'}`);
}

function readRule(place: ParsePosition, value: unknown): ParsedRule | undefined {
  if (!isObject(value)) return refuse(place, 'must be an object with name, when and steps');
  if (Buffer.byteLength(JSON.stringify(value)) > DOCUMENT_MAX_KIB * 1024)
    return refuse(place, `must not have more than ${DOCUMENT_MAX_KIB} KiB`);
  refuseOthers(place, value, RULE_KEYS);
  return complete<ParsedRule>({
    name: readName(inside(place, 'name'), value['name']),
    mode: optional<Rule['mode']>(place, value, { key: 'mode', read: readMode, otherwise: 'autopilot' }),
    deadlineMs: optional<number | null>(place, value, {
      key: 'deadline',
      read: readDeadline,
      otherwise: null,
    }),
    definition: readDefinition(place, value),
  });
}

function readMode(place: ParsePosition, value: unknown): Rule['mode'] | undefined {
  return MODES.find((mode) => mode === value) ?? refuse(place, `must be ${MODES.join(' or ')}`);
}

/** Has the same bounds as the deadline of the project. */
function readDeadline(place: ParsePosition, value: unknown): number | undefined {
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  return ms !== undefined && ms >= DEADLINE_MIN_MS && ms <= DEADLINE_MAX_MS
    ? ms
    : refuse(place, `must be ${DURATION_SYNTAX}, at most 30d`);
}

function readDefinition(place: ParsePosition, object: JsonObject): Definition | undefined {
  const about = optional<Definition['about']>(place, object, {
    key: 'about',
    read: readAbout,
    otherwise: null,
  });
  const entry = optional<Definition['entry']>(place, object, {
    key: 'enrollment',
    read: readEntry,
    otherwise: { kind: 'once' },
  });
  if (entry?.kind === 'once_per_about' && about === null)
    refuse(inside(place, 'about'), 'is required where enrollment is once_per about');
  return complete<Definition>({
    when: readWhen(inside(place, 'when'), object['when']),
    about,
    onlyIf: readCondition(place, object, 'only_if'),
    entry,
    exits: optional(place, object, { key: 'exits', read: readExits, otherwise: NO_EXITS }),
    goal: readCondition(place, object, 'goal'),
    ...readBounds(place, object),
    steps: readSteps(inside(place, 'steps'), object['steps']),
  });
}

const NO_EXITS: Definition['exits'] = { events: [], when: null, onReply: true };

function readExits(place: ParsePosition, value: unknown): Definition['exits'] | undefined {
  if (!isObject(value)) return refuse(place, 'must be an object with events, when or on_reply');
  refuseOthers(place, value, ['events', 'when', 'on_reply']);
  return complete<Definition['exits']>({
    events: optional(place, value, { key: 'events', read: readEventNames, otherwise: [] }),
    when: readCondition(place, value, 'when'),
    onReply: optional(place, value, { key: 'on_reply', read: readBoolean, otherwise: true }),
  });
}

function readCondition(place: ParsePosition, object: JsonObject, key: string): Predicate | null | undefined {
  return optional<Predicate | null>(place, object, {
    key,
    read: (inner, value) => readPredicate(inner, value),
    otherwise: null,
  });
}

const TOPIC_ID = /^[a-z0-9][a-z0-9_-]{0,39}$/;

function readTopic(place: ParsePosition, value: unknown): string | undefined {
  if (typeof value === 'string' && TOPIC_ID.test(value)) return value;
  return refuse(place, 'must be the id of a topic, such as news, of a-z, 0-9, - and _');
}

function readBounds(place: ParsePosition, object: JsonObject) {
  return {
    maxEventAgeMs: optional<number>(place, object, {
      key: 'max_event_age',
      read: readSpan,
      otherwise: DEFAULTS.maxEventAgeMs,
    }),
    priority: optional<number>(place, object, {
      key: 'priority',
      read: wholeNumber({ min: 0, max: 1_000 }),
      otherwise: DEFAULTS.priority,
    }),
    holdoutPercent: optional<number>(place, object, {
      key: 'holdout',
      read: wholeNumber({ min: 0, max: 50 }),
      otherwise: DEFAULTS.holdoutPercent,
    }),
    counts: optional(place, object, { key: 'counts', read: readBoolean, otherwise: true }),
    topic: optional<string | null>(place, object, { key: 'topic', read: readTopic, otherwise: null }),
    tracking: optional(place, object, { key: 'tracking', read: readBoolean, otherwise: true }),
    expiresAfterMs: optional<number>(place, object, {
      key: 'expires_after',
      read: readSpan,
      otherwise: DEFAULTS.expiresAfterMs,
    }),
  };
}

const PROPERTIES_MAX = 10;
const OTHERWISE_MS = 30 * 86_400_000;

const readProperties = namesReader(readKey, { min: 1, max: PROPERTIES_MAX, of: 'names of properties' });
const readAnyProperties = namesReader(readKey, { min: 0, max: PROPERTIES_MAX, of: 'names of properties' });

function readEntry(place: ParsePosition, value: unknown): EnrollmentLimit | undefined {
  if (value === 'once' || value === 'one_at_a_time') return { kind: value };
  if (!isObject(value))
    return refuse(place, 'must be once, one_at_a_time or an object with once_per or cooldown');
  const kind = onlyKey(place, value, ['once_per', 'cooldown'] as const);
  if (kind === undefined) return undefined;
  if (kind === 'cooldown') return readCooldown(place, value);
  return value['once_per'] === 'about' ? readOncePerAbout(place, value) : readOncePer(place, value);
}

function readOncePer(place: ParsePosition, object: JsonObject): EnrollmentLimit | undefined {
  refuseOthers(place, object, ['once_per']);
  const inner = inside(place, 'once_per');
  if (!Array.isArray(object['once_per'])) return refuse(inner, 'must be about or a list of properties');
  const properties = readProperties(inner, object['once_per']);
  return properties && { kind: 'once_per', properties };
}

function readOncePerAbout(place: ParsePosition, object: JsonObject): EnrollmentLimit | undefined {
  refuseOthers(place, object, ['once_per', 'otherwise']);
  const otherwiseMs = optional(place, object, {
    key: 'otherwise',
    read: readSpan,
    otherwise: OTHERWISE_MS,
  });
  return otherwiseMs === undefined ? undefined : { kind: 'once_per_about', otherwiseMs };
}

function readCooldown(place: ParsePosition, object: JsonObject): EnrollmentLimit | undefined {
  refuseOthers(place, object, ['cooldown', 'per', 'again']);
  return complete<Extract<EnrollmentLimit, { kind: 'cooldown' }>>({
    kind: 'cooldown',
    ms: readRequiredSpan(inside(place, 'cooldown'), object['cooldown']),
    properties: optional(place, object, { key: 'per', read: readAnyProperties, otherwise: [] }),
    again: optional<PropertyTest | null>(place, object, { key: 'again', read: readAgain, otherwise: null }),
  });
}

function readAgain(place: ParsePosition, value: unknown): PropertyTest | undefined {
  return takeCondition(place) ? readPropertyTest(place, value) : undefined;
}
