import type { JsonValue } from '@beckon/contract';
import type { ImportType } from '@beckon/contract/dashboard';
import { parseInstant } from '../../base/instant.ts';

/** A cell as a value of the type that was chosen for its column, or what it is not. */
export function readCell(text: string, type: ImportType): { value: JsonValue } | { message: string } {
  switch (type) {
    case 'text':
      return { value: text };
    case 'auto':
      return { value: guess(text) };
    case 'number': {
      const value = Number(text);
      return text.trim() !== '' && Number.isFinite(value) ? { value } : { message: 'is no number' };
    }
    case 'boolean': {
      const value = BOOLEANS.get(text.toLowerCase());
      return value === undefined ? { message: 'is neither true nor false' } : { value };
    }
    case 'date': {
      const at = readTime(text);
      return Number.isNaN(at) ? { message: 'is no date' } : { value: new Date(at).toISOString() };
    }
    case 'json':
      try {
        return { value: JSON.parse(text) as JsonValue };
      } catch {
        return { message: 'is not JSON' };
      }
  }
}

const BOOLEANS = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
]);

/** No more digits than a number holds, and no leading zero: postal codes and telephone numbers stay texts. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?$/;

function guess(text: string): JsonValue {
  if (text === 'true' || text === 'TRUE') return true;
  if (text === 'false' || text === 'FALSE') return false;
  return text.length <= 29 && NUMBER.test(text) && digits(text) <= 15 ? Number(text) : text;
}

function digits(text: string): number {
  return text.replace('-', '').replace('.', '').length;
}

const SPACED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?$/;
const EPOCH_S = /^\d{9,10}$/;
const EPOCH_MS = /^\d{12,13}$/;

/** RFC 3339, a date, `2026-01-31 09:00` (UTC where it says nothing else), or seconds or milliseconds since 1970; NaN for anything else. */
export function readTime(value: unknown): number {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return Number.NaN;
  if (EPOCH_S.test(text)) return Number(text) * 1_000;
  if (EPOCH_MS.test(text)) return Number(text);
  const [, date, minutes, seconds = ':00', zone = 'Z'] = SPACED.exec(text) ?? [];
  return parseInstant(date === undefined ? text : `${date}T${minutes}${seconds}${zone}`);
}
