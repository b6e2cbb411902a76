import {
  CANONICAL_EVENTS,
  EMAIL_MAX_CHARS,
  ERRORS_MAX,
  type EventInput,
  OCCURRED_AT_MIN_MS,
  OCCURRED_AT_SKEW_MS,
  type PropertyRule,
  RECORD_MAX_BYTES,
  type UserInput,
} from '@beckon/contract';
import { EventSchema, UserSchema } from '@beckon/contract/schema';
import type { FieldFault } from '../fault.ts';
import { isEmail } from './email.ts';
import { compileShape, flawsOf, type Shape } from './flaws.ts';
import { iso } from '../time/clock.ts';

/**
 * Reads an external record. Returns the JSON text to store (only the known fields, times in UTC), or the errors in the order of the schema.
 */
export type ReadRecord = (value: unknown, options: ReadOptions) => string | FieldFault[];
export type ReadOptions = {
  now: number;
  /** True if strings may contain NUL or lone surrogates: see `flaws.ts`. */
  checkStrings: boolean;
  /** Set on stored events whose users are suppressed. */
  suppress?: boolean;
  /** Collects the JSON text of each valid record as it was sent, which is usually also the stored text. */
  texts?: string[];
};

const userShape = compileShape(UserSchema);
const eventShape = compileShape(EventSchema);
const USER_FIELDS = ['external_user_id', 'email', 'traits'];
const EVENT_FIELDS = ['external_user_id', 'name', 'properties', 'occurred_at', 'message_id'];

export const readUser: ReadRecord = (value, options) => {
  const flaws = structureFaults(value, userShape, options);
  const user = value as UserInput;
  if (flaws.length === 0 && (user.email === undefined || isEmail(user.email)))
    return storeUser(user, options);
  return inOrder([...flaws, ...addressFaults(value, flaws)], USER_FIELDS);
};

export const readEvent: ReadRecord = (value, options) => {
  const flaws = structureFaults(value, eventShape, options);
  if (flaws.length > 0)
    return inOrder([...flaws, ...(isObject(value) ? meaningFaults(value, options.now) : [])], EVENT_FIELDS);
  const meaning = meaningFaults(value as Record<string, unknown>, options.now);
  return meaning.length > 0 ? inOrder(meaning, EVENT_FIELDS) : storeEvent(value as EventInput, options);
};

const NOT_AN_EMAIL: FieldFault = { message: 'email must be a valid email address', field: 'email' };
const EMAIL_TOO_LONG: FieldFault = {
  message: `email must not be longer than ${EMAIL_MAX_CHARS} characters`,
  field: 'email',
};
const NONE: FieldFault[] = [];

/**
 * Returns the error of an address that the schema accepted. The schema counts code points and `isEmail` counts UTF-16 units, so an address
 * can be too long for `isEmail` only. Without this error the rejection would name no field.
 */
function addressFaults(value: unknown, existing: FieldFault[]): FieldFault[] {
  if (!isObject(value) || typeof value['email'] !== 'string' || isEmail(value['email'])) return NONE;
  if (existing.some(({ field }) => field === 'email')) return NONE;
  return [value['email'].length > EMAIL_MAX_CHARS ? EMAIL_TOO_LONG : NOT_AN_EMAIL];
}

function structureFaults(value: unknown, shape: Shape, options: ReadOptions): FieldFault[] {
  if (!shape.fits(value)) {
    const faults = shape.faults(value);
    return isObject(value) ? [...faults, ...flawsOf(value, options.checkStrings)] : faults;
  }
  return flawsOf(value as object, options.checkStrings);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks beyond the types: the range of a time, and the properties of canonical events. */
function meaningFaults(event: Record<string, unknown>, now: number): FieldFault[] {
  const faults =
    typeof event['name'] === 'string' ? canonicalFaults(event['name'], event['properties']) : NONE;
  const occurredAt = event['occurred_at'];
  if (typeof occurredAt !== 'string') return faults;
  const at = parseTimestamp(occurredAt);
  if (at >= OCCURRED_AT_MIN_MS && at <= now + OCCURRED_AT_SKEW_MS) return faults;
  const message = Number.isNaN(at)
    ? 'occurred_at must be an RFC 3339 time with Z or an offset'
    : 'occurred_at must be between 2000-01-01 and one hour from now';
  return [...faults, { message, field: 'occurred_at' }];
}

function canonicalFaults(name: string, properties: unknown): FieldFault[] {
  const rules = Object.hasOwn(CANONICAL_EVENTS, name) ? CANONICAL_EVENTS[name] : undefined;
  if (!rules || (properties !== undefined && !isObject(properties))) return NONE;
  let faults = NONE;
  for (const property in rules) {
    const value = properties && Object.hasOwn(properties, property) ? properties[property] : undefined;
    const fault = propertyFault(property, rules[property], value);
    if (fault) faults = [...faults, fault];
  }
  return faults;
}

function propertyFault(
  property: string,
  rule: PropertyRule | undefined,
  value: unknown,
): FieldFault | undefined {
  const field = `properties.${property}`;
  if (value === undefined) return rule?.required ? { message: `${field} is required`, field } : undefined;
  return typeof value === rule?.type ? undefined : { message: `${field} must be a ${rule?.type}`, field };
}

function storeUser(user: UserInput, options: ReadOptions): string | FieldFault[] {
  const sent = sentText(user, options);
  if (sent !== undefined && hasOnly(user, USER_FIELDS)) return withinSize(sent, 'traits');
  const text = JSON.stringify({
    external_user_id: user.external_user_id,
    email: user.email,
    traits: user.traits,
  });
  return withinSize(text, 'traits');
}

function storeEvent(event: EventInput, options: ReadOptions): string | FieldFault[] {
  const { suppress = false } = options;
  const sent = sentText(event, options);
  const asSent = !suppress && event.occurred_at === undefined && event.properties !== undefined;
  if (sent !== undefined && asSent && hasOnly(event, EVENT_FIELDS)) return withinSize(sent, 'properties');
  const text = JSON.stringify({
    external_user_id: event.external_user_id,
    name: event.name,
    properties: event.properties ?? {},
    occurred_at: event.occurred_at === undefined ? undefined : iso(parseTimestamp(event.occurred_at)),
    message_id: event.message_id,
    suppress: suppress || undefined,
  });
  return withinSize(text, 'properties');
}

function sentText(record: object, { texts }: ReadOptions): string | undefined {
  if (!texts) return undefined;
  const text = JSON.stringify(record);
  texts.push(text);
  return text;
}

function hasOnly(record: object, fields: string[]): boolean {
  for (const key in record) if (!fields.includes(key)) return false;
  return true;
}

/** Only the free-form part can be this large, because the other fields have their own limits. */
function withinSize(text: string, field: string): string | FieldFault[] {
  // A UTF-16 unit is at most three bytes of UTF-8, so most records need no count.
  if (text.length * 3 <= RECORD_MAX_BYTES || Buffer.byteLength(text) <= RECORD_MAX_BYTES) return text;
  return [{ message: `${field} makes the record larger than ${RECORD_MAX_BYTES / 1024} KiB`, field }];
}

function inOrder(faults: FieldFault[], fields: string[]): FieldFault[] {
  const rank = (fault: FieldFault): number => {
    const index = fields.indexOf((fault.field ?? '').split('.', 1)[0] ?? '');
    return index === -1 ? fields.length : index;
  };
  return faults.toSorted((a, b) => rank(a) - rank(b)).slice(0, ERRORS_MAX);
}

/** RFC 3339 with `Z` or an offset. Temporal alone would also accept annotations, hours without minutes and a comma. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Returns milliseconds since the epoch, or NaN for anything but an RFC 3339 date-time with `Z` or an offset. */
function parseTimestamp(text: string): number {
  if (!RFC_3339.test(text)) return Number.NaN;
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    // A date or time that no calendar has, such as February 30 or hour 25, is not a time. The caller reports it.
    return Number.NaN;
  }
}
