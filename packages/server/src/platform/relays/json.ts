import { parseJson } from '../text/parse-json.ts';

/** Reads JSON of third parties: every function accepts any value, and none throws. */
export type Json = Record<string, unknown>;

export function readJson(bytes: Buffer | string): unknown {
  try {
    return parseJson(bytes.toString());
  } catch {
    return null;
  }
}

/** Returns an empty object for anything else, so that fields can be read without checks. */
export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function asList(value: unknown, max: number): unknown[] {
  return Array.isArray(value) ? value.slice(0, max) : [];
}

/** The longest id, name or address that is stored. */
const TEXT_MAX = 320;

/** Returns a short text without control characters; null for anything else. Numbers become text, because some ids are numbers. */
export function asText(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string' || value === '' || value.length > TEXT_MAX) return null;
  return /\p{Cc}/u.test(value) ? null : value.toWellFormed();
}

const REPLY_MAX = 500;

/** Returns the words of a server as one bounded line. */
export function asReply(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .slice(0, REPLY_MAX)
    .toWellFormed()
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
}

/** Returns the milliseconds of a time in ISO 8601; null for anything else. */
export function asTime(value: unknown): number | null {
  return typeof value === 'string' ? plausibleTime(Date.parse(value)) : null;
}

/** Returns the milliseconds of a time in seconds, as a number or as digits. */
export function asSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' && /^\d{1,12}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' ? plausibleTime(Math.round(seconds * 1_000)) : null;
}

/** The years 2000 to 2100: anything else is an error of the provider, and would not fit everywhere that stores a time. */
const [EARLIEST, LATEST] = [Date.UTC(2000, 0), Date.UTC(2100, 0)];

export function plausibleTime(ms: number): number | null {
  return ms >= EARLIEST && ms < LATEST ? ms : null;
}

/** Returns the SMTP code of a number or of digits; null for anything else. */
export function asCode(value: unknown): number | null {
  const code = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof code === 'number' && Number.isInteger(code) && code >= 200 && code <= 599 ? code : null;
}
