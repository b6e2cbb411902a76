import * as limits from '@beckon/contract';
import type { ErrorEntry, PropertyRule } from '@beckon/contract';

export type Problem = Pick<ErrorEntry, 'message'> & { field?: string };
type Fields = Record<string, unknown>;

/** Returns the problems that the server would report for a user: the same fields, in the same order. */
export function userProblems(user: unknown): Problem[] {
  if (!isObject(user)) return [{ message: 'The record must be an object' }];
  const { email, traits } = user;
  const problems = idProblems(user);
  if (email !== undefined && (typeof email !== 'string' || !isEmail(email)))
    problems.push(problem('email', 'must be a valid email address'));
  if (traits !== undefined && !isObject(traits)) problems.push(problem('traits', 'must be an object'));
  return [...problems, ...sizeProblems(user, 'traits')];
}

export function eventProblems(event: unknown): Problem[] {
  if (!isObject(event)) return [{ message: 'The record must be an object' }];
  const { name, properties, occurred_at, message_id } = event;
  const problems = [...idProblems(event), ...textProblems('name', name, limits.EVENT_NAME_MAX_CHARS)];
  if (properties !== undefined && !isObject(properties))
    problems.push(problem('properties', 'must be an object'));
  else if (typeof name === 'string') problems.push(...canonicalProblems(name, properties ?? {}));
  if (occurred_at !== undefined && !isTime(occurred_at))
    problems.push(
      problem('occurred_at', 'must be an RFC 3339 time between 2000-01-01 and one hour from now'),
    );
  if (message_id !== undefined)
    problems.push(...textProblems('message_id', message_id, limits.MESSAGE_ID_MAX_CHARS));
  return [...problems, ...sizeProblems(event, 'properties')];
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `90s`, `15m`, `2h`, `7d`. Returns null for anything else, and for more than 366 days. */
export function durationMs(text: unknown): number | null {
  const [, count, unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(String(text)) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  return count !== undefined && ms <= 366 * 86_400_000 ? ms : null;
}

function problem(field: string, what: string): Problem {
  return { message: `${field} ${what}`, field };
}

function idProblems(record: Fields): Problem[] {
  const field = 'external_user_id';
  return textProblems(field, record[field], limits.EXTERNAL_USER_ID_MAX_CHARS);
}

function textProblems(field: string, value: unknown, most: number): Problem[] {
  if (value === undefined) return [problem(field, 'is required')];
  if (typeof value !== 'string') return [problem(field, 'must be a string')];
  if (value === '') return [problem(field, 'must not be empty')];
  return value.length > most ? [problem(field, `must not be longer than ${most} characters`)] : [];
}

function isEmail(text: string): boolean {
  if (text.length > limits.EMAIL_MAX_CHARS || text.indexOf('@') > limits.EMAIL_LOCAL_MAX_CHARS) return false;
  return /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text);
}

function isTime(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/.test(value)) return false;
  const at = Date.parse(value);
  return at >= limits.OCCURRED_AT_MIN_MS && at <= Date.now() + limits.OCCURRED_AT_SKEW_MS;
}

function canonicalProblems(name: string, properties: Fields): Problem[] {
  const rules: Record<string, PropertyRule> =
    Object.entries(limits.CANONICAL_EVENTS).find(([canonical]) => canonical === name)?.[1] ?? {};
  return Object.entries(rules).flatMap(([property, { type, required }]) => {
    const value = properties[property];
    if (value === undefined) return required ? [problem(`properties.${property}`, 'is required')] : [];
    return typeof value === type ? [] : [problem(`properties.${property}`, `must be a ${type}`)];
  });
}

function sizeProblems(record: Fields, field: string): Problem[] {
  if (Buffer.byteLength(JSON.stringify(record)) <= limits.RECORD_MAX_BYTES) return [];
  return [problem(field, `makes the record larger than ${limits.RECORD_MAX_BYTES / 1_024} KiB`)];
}
