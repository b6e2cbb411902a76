import type { JsonValue } from '@beckon/contract';
import type { ValueType } from './options.ts';

/** Why a row is not sent. */
export class RowProblem extends Error {
  override readonly name = 'RowProblem';
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/** Nothing of a number is lost: no leading zeros, as in postcodes, and no more digits than a double keeps. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;
const DIGITS_MAX = 15;

/** `true` and `false` are booleans, plain numbers are numbers, and everything else is text. */
export function readAuto(text: string): JsonValue {
  if (text === 'true' || text === 'TRUE' || text === 'True') return true;
  if (text === 'false' || text === 'FALSE' || text === 'False') return false;
  if (!NUMBER.test(text)) return text;
  return text.replaceAll(/\D/g, '').length <= DIGITS_MAX ? Number(text) : text;
}

/** As somebody said that it is; what is not so is no guess. */
export function readTyped(text: string, type: ValueType, field: string): JsonValue {
  switch (type) {
    case 'text':
      return text;
    case 'number':
      return readNumber(text.trim(), field);
    case 'boolean':
      return readBoolean(text.trim().toLowerCase(), field);
    case 'date':
      return readDate(text, field);
    case 'json':
      return readJson(text, field);
  }
}

function readNumber(text: string, field: string): number {
  const value = Number(text);
  if (text !== '' && Number.isFinite(value)) return value;
  throw new RowProblem(`${field} is no number`, field);
}

function readBoolean(text: string, field: string): boolean {
  if (['true', 'yes', 'y', '1'].includes(text)) return true;
  if (['false', 'no', 'n', '0'].includes(text)) return false;
  throw new RowProblem(`${field} is neither true nor false`, field);
}

function readJson(text: string, field: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new RowProblem(`${field} is no JSON`, field);
  }
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const LOCAL = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)$/;
const INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)$/i;
const UNIX = /^\d{9,10}(?:\.\d+)?$|^\d{12,13}$/;

/**
 * A moment, in UTC. Days and times without an offset are in UTC; numbers are seconds or milliseconds since 1970. Days and months
 * in the order of some country are not guessed at.
 */
export function readDate(given: string, field: string): string {
  const text = given.trim();
  const at = new Date(readable(text));
  // The thirtieth of February would become the second of March.
  const isDay = !UNIX.test(text) && text.slice(8, 10) !== '' && !isDayOf(text);
  if (Number.isNaN(at.getTime()) || isDay)
    throw new RowProblem(`${field} is no time such as 2026-01-31T14:30:00Z`, field);
  return at.toISOString();
}

function isDayOf(text: string): boolean {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === text.slice(0, 10);
}

function readable(text: string): string | number {
  if (UNIX.test(text)) return Number(text) * (text.length >= 12 && !text.includes('.') ? 1 : 1_000);
  if (DAY.test(text)) return `${text}T00:00:00Z`;
  const local = LOCAL.exec(text);
  if (local) return `${local[1]}T${local[2]}Z`;
  if (!INSTANT.test(text)) return '';
  return text
    .replace(' ', 'T')
    .replace(/\s?(?:UTC)$/i, 'Z')
    .replaceAll(' ', '');
}
