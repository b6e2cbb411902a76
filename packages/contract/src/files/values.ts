import type { JsonValue } from '../json.ts';

/** How the text of a column is read. `auto` recognizes numbers, `true` and `false`, and keeps everything else as text. */
export const CELL_TYPES = ['auto', 'text', 'number', 'boolean', 'date', 'json'] as const;
export type CellType = (typeof CELL_TYPES)[number];

/** Converts a cell to the type that was chosen for its column, or returns an error message. */
export function readCell(text: string, type: CellType): { value: JsonValue } | { message: string } {
  switch (type) {
    case 'text':
      return { value: text };
    case 'auto':
      return { value: readAuto(text) };
    case 'number': {
      const value = Number(text);
      return text.trim() !== '' && Number.isFinite(value) ? { value } : { message: 'is no number' };
    }
    case 'boolean': {
      const value = BOOLEANS.get(text.trim().toLowerCase());
      return value === undefined ? { message: 'is neither true nor false' } : { value };
    }
    case 'date': {
      const at = readMoment(text);
      return Number.isNaN(at) ? { message: NO_TIME } : { value: new Date(at).toISOString() };
    }
    case 'json':
      try {
        return { value: JSON.parse(text) as JsonValue };
      } catch {
        return { message: 'is no JSON' };
      }
  }
}

export const NO_TIME = 'is no time such as 2026-01-31T14:30:00Z';

const BOOLEANS = new Map([
  ['true', true],
  ['yes', true],
  ['y', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['n', false],
  ['0', false],
]);

/** Matches only numbers that lose nothing: no leading zeros, as in postcodes, and no more digits than a double keeps. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;
const DIGITS_MAX = 15;

/** `true` and `false` are booleans, plain numbers are numbers, and everything else is text. */
export function readAuto(text: string): JsonValue {
  if (text === 'true' || text === 'TRUE' || text === 'True') return true;
  if (text === 'false' || text === 'FALSE' || text === 'False') return false;
  return NUMBER.test(text) && digitsOf(text) <= DIGITS_MAX ? Number(text) : text;
}

function digitsOf(text: string): number {
  return text.length - (text.startsWith('-') ? 1 : 0) - (text.includes('.') ? 1 : 0);
}

const SECONDS = /^\d{9,10}(?:\.\d{1,9})?$/;
const MILLISECONDS = /^\d{12,13}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
/** The times that the API accepts: offsets up to the largest on earth, and no leap seconds. */
const TIME =
  /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,9})?)?\s?(Z|UTC|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/i;

/**
 * Returns a time in milliseconds since 1970; NaN for anything else. Days and times without an offset are in UTC; numbers are seconds or
 * milliseconds since 1970. Country-specific orders of day and month are not guessed.
 */
export function readMoment(input: string): number {
  const text = input.trim();
  if (SECONDS.test(text)) return Math.floor(Number(text) * 1_000);
  if (MILLISECONDS.test(text)) return Number(text);
  if (DAY.test(text)) return isDay(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  const [, day = '', minutes = '', seconds = ':00', zone = 'Z'] = TIME.exec(text) ?? [];
  return isDay(day) ? Date.parse(`${day}T${minutes}${seconds}${offsetOf(zone)}`) : Number.NaN;
}

function offsetOf(zone: string): string {
  if (!/^[+-]/.test(zone)) return 'Z';
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
}

/** `Date` would read February 30 as March 2. */
function isDay(text: string): boolean {
  if (text === '' || text.startsWith('0000')) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
