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
  startParse,
  takeCondition,
} from '../../../platform/predicate/place.ts';
import type { Predicate, PropertyTest } from '../../../platform/predicate/predicate.ts';
import { DURATION_SYNTAX, parseDuration } from '../../../platform/time/time-text.ts';

export type ParsedRule = Pick<Rule, 'name' | 'mode' | 'deadlineMs'> & { definition: Definition };
type RuleParseResult = { ok: true; rule: ParsedRule } | { ok: false; faults: FieldFault[] };

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
export function parseRule(document: unknown): RuleParseResult {
  const root = startParse('rule');
  const rule = readRule(root, document);
  const faults = faultsOf(root.state, document);
  return rule && faults.length === 0 ? { ok: true, rule } : { ok: false, faults };
}

/** Parses a stored version, which `documentOf` wrote. */
export function parseDefinition(stored: unknown): Definition {
  const root = startParse('rule');
  const definition = isObject(stored) ? readDefinition(root, stored) : undefined;
  const [fault] = faultsOf(root.state, stored);
  if (definition && !fault) return definition;
  throw new Error(`a stored version of a rule cannot be read: ${fault?.message ?? 'it is not an object'}`);
}

function readRule(position: ParsePosition, value: unknown): ParsedRule | undefined {
  if (!isObject(value)) return refuse(position, 'must be an object with name, when and steps');
  if (Buffer.byteLength(JSON.stringify(value)) > DOCUMENT_MAX_KIB * 1024)
    return refuse(position, `must not have more than ${DOCUMENT_MAX_KIB} KiB`);
  refuseOthers(position, value, RULE_KEYS);
  return complete<ParsedRule>({
    name: readName(inside(position, 'name'), value['name']),
    mode: optional<Rule['mode']>(position, value, { key: 'mode', read: readMode, otherwise: 'autopilot' }),
    deadlineMs: optional<number | null>(position, value, {
      key: 'deadline',
      read: readDeadline,
      otherwise: null,
    }),
    definition: readDefinition(position, value),
  });
}

function readMode(position: ParsePosition, value: unknown): Rule['mode'] | undefined {
  return MODES.find((mode) => mode === value) ?? refuse(position, `must be ${MODES.join(' or ')}`);
}

/** Has the same bounds as the deadline of the project. */
function readDeadline(position: ParsePosition, value: unknown): number | undefined {
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  return ms !== undefined && ms >= DEADLINE_MIN_MS && ms <= DEADLINE_MAX_MS
    ? ms
    : refuse(position, `must be ${DURATION_SYNTAX}, at most 30d`);
}

function readDefinition(position: ParsePosition, object: JsonObject): Definition | undefined {
  const about = optional<Definition['about']>(position, object, {
    key: 'about',
    read: readAbout,
    otherwise: null,
  });
  const entry = optional<Definition['entry']>(position, object, {
    key: 'enrollment',
    read: readEntry,
    otherwise: { kind: 'once' },
  });
  if (entry?.kind === 'once_per_about' && about === null)
    refuse(inside(position, 'about'), 'is required where enrollment is once_per about');
  return complete<Definition>({
    when: readWhen(inside(position, 'when'), object['when']),
    about,
    onlyIf: readCondition(position, object, 'only_if'),
    entry,
    exits: optional(position, object, { key: 'exits', read: readExits, otherwise: NO_EXITS }),
    goal: readCondition(position, object, 'goal'),
    ...readBounds(position, object),
    steps: readSteps(inside(position, 'steps'), object['steps']),
  });
}

const NO_EXITS: Definition['exits'] = { events: [], when: null, onReply: true };

function readExits(position: ParsePosition, value: unknown): Definition['exits'] | undefined {
  if (!isObject(value)) return refuse(position, 'must be an object with events, when or on_reply');
  refuseOthers(position, value, ['events', 'when', 'on_reply']);
  return complete<Definition['exits']>({
    events: optional(position, value, { key: 'events', read: readEventNames, otherwise: [] }),
    when: readCondition(position, value, 'when'),
    onReply: optional(position, value, { key: 'on_reply', read: readBoolean, otherwise: true }),
  });
}

function readCondition(
  position: ParsePosition,
  object: JsonObject,
  key: string,
): Predicate | null | undefined {
  return optional<Predicate | null>(position, object, {
    key,
    read: (inner, value) => readPredicate(inner, value),
    otherwise: null,
  });
}

const TOPIC_ID = /^[a-z0-9][a-z0-9_-]{0,39}$/;

function readTopic(position: ParsePosition, value: unknown): string | undefined {
  if (typeof value === 'string' && TOPIC_ID.test(value)) return value;
  return refuse(position, 'must be the id of a topic, such as news, of a-z, 0-9, - and _');
}

function readBounds(position: ParsePosition, object: JsonObject) {
  return {
    maxEventAgeMs: optional<number>(position, object, {
      key: 'max_event_age',
      read: readSpan,
      otherwise: DEFAULTS.maxEventAgeMs,
    }),
    priority: optional<number>(position, object, {
      key: 'priority',
      read: wholeNumber({ min: 0, max: 1_000 }),
      otherwise: DEFAULTS.priority,
    }),
    holdoutPercent: optional<number>(position, object, {
      key: 'holdout',
      read: wholeNumber({ min: 0, max: 50 }),
      otherwise: DEFAULTS.holdoutPercent,
    }),
    counts: optional(position, object, { key: 'counts', read: readBoolean, otherwise: true }),
    topic: optional<string | null>(position, object, { key: 'topic', read: readTopic, otherwise: null }),
    tracking: optional(position, object, { key: 'tracking', read: readBoolean, otherwise: true }),
    expiresAfterMs: optional<number>(position, object, {
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

function readEntry(position: ParsePosition, value: unknown): EnrollmentLimit | undefined {
  if (value === 'once' || value === 'one_at_a_time') return { kind: value };
  if (!isObject(value))
    return refuse(position, 'must be once, one_at_a_time or an object with once_per or cooldown');
  const kind = onlyKey(position, value, ['once_per', 'cooldown'] as const);
  if (kind === undefined) return undefined;
  if (kind === 'cooldown') return readCooldown(position, value);
  return value['once_per'] === 'about' ? readOncePerAbout(position, value) : readOncePer(position, value);
}

function readOncePer(position: ParsePosition, object: JsonObject): EnrollmentLimit | undefined {
  refuseOthers(position, object, ['once_per']);
  const inner = inside(position, 'once_per');
  if (!Array.isArray(object['once_per'])) return refuse(inner, 'must be about or a list of properties');
  const properties = readProperties(inner, object['once_per']);
  return properties && { kind: 'once_per', properties };
}

function readOncePerAbout(position: ParsePosition, object: JsonObject): EnrollmentLimit | undefined {
  refuseOthers(position, object, ['once_per', 'otherwise']);
  const otherwiseMs = optional(position, object, {
    key: 'otherwise',
    read: readSpan,
    otherwise: OTHERWISE_MS,
  });
  return otherwiseMs === undefined ? undefined : { kind: 'once_per_about', otherwiseMs };
}

function readCooldown(position: ParsePosition, object: JsonObject): EnrollmentLimit | undefined {
  refuseOthers(position, object, ['cooldown', 'per', 'again']);
  return complete<Extract<EnrollmentLimit, { kind: 'cooldown' }>>({
    kind: 'cooldown',
    ms: readRequiredSpan(inside(position, 'cooldown'), object['cooldown']),
    properties: optional(position, object, { key: 'per', read: readAnyProperties, otherwise: [] }),
    again: optional<PropertyTest | null>(position, object, {
      key: 'again',
      read: readAgain,
      otherwise: null,
    }),
  });
}

function readAgain(position: ParsePosition, value: unknown): PropertyTest | undefined {
  return takeCondition(position) ? readPropertyTest(position, value) : undefined;
}
