import { allOf, readSpan, readText } from '../../../platform/predicate/parse-values.ts';
import { inside, type JsonObject, type ParsePosition, refuse } from '../../../platform/predicate/place.ts';

/** Reads one value. All parts of the rule language share these small readers. */
export type Read<T> = (position: ParsePosition, value: unknown) => T | undefined;

const NAME_MAX_CHARS = 100;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const CONTROL = /\p{Cc}/u;

/** Returns the parts together, or undefined if one of them could not be read. */
export function complete<T extends object>(parts: { [K in keyof T]: T[K] | undefined }): T | undefined {
  return Object.values(parts).includes(undefined) ? undefined : (parts as T);
}

/** Reads an optional field. */
export function optional<T>(
  position: ParsePosition,
  object: JsonObject,
  { key, read, otherwise }: { key: string; read: Read<T>; otherwise: T },
): T | undefined {
  return Object.hasOwn(object, key) ? read(inside(position, key), object[key]) : otherwise;
}

/** Reads the name of a rule or an email and trims it. A name must not look like an id, because both are accepted in the same places. */
export function readName(position: ParsePosition, value: unknown): string | undefined {
  if (value === undefined) return refuse(position, 'is required');
  const name = typeof value === 'string' ? value.trim() : '';
  if (name.length < 1 || name.length > NAME_MAX_CHARS || !name.isWellFormed() || CONTROL.test(name))
    return refuse(
      position,
      `must be a string of 1 to ${NAME_MAX_CHARS} characters, without control characters`,
    );
  return ID.test(name) ? refuse(position, 'must not look like an id') : name;
}

export function readLine(
  position: ParsePosition,
  value: unknown,
  bounds: { min: number; max: number },
): string | undefined {
  const line = readText(position, value, bounds);
  if (line === undefined) return undefined;
  if (CONTROL.test(line)) return refuse(position, 'must be a single line, without control characters');
  return bounds.min > 0 && line.trim() === '' ? refuse(position, 'must not be empty') : line;
}

export function readBoolean(position: ParsePosition, value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : refuse(position, 'must be true or false');
}

export function wholeNumber({ min, max }: { min: number; max: number }): Read<number> {
  return (position, value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : refuse(position, `must be a whole number from ${min} to ${max}`);
}

/** Returns a reader for a list of event or property names without duplicates. */
export function namesReader(read: Read<string>, bounds: { min: number; max: number; of: string }) {
  return (position: ParsePosition, value: unknown): string[] | undefined => {
    if (!Array.isArray(value) || value.length < bounds.min || value.length > bounds.max)
      return refuse(position, `must be a list of ${bounds.min} to ${bounds.max} ${bounds.of}`);
    const names = allOf(value.map((item: unknown, i) => read(inside(position, i), item)));
    const twice = names?.findIndex((name, i) => names.indexOf(name) < i) ?? -1;
    return twice === -1 ? names : refuse(inside(position, twice), 'must not be in the list twice');
  };
}

export function readRequiredSpan(position: ParsePosition, value: unknown): number | undefined {
  return value === undefined ? refuse(position, 'is required') : readSpan(position, value);
}
