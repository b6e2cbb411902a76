import { readFile } from 'node:fs/promises';
import type { JsonObject } from '@beckon/contract';
import { type Failure, usage } from '../failure.ts';
import { fileResult } from '../files.ts';
import { readAll } from '../read-all.ts';
import type { Shell } from '../shell.ts';

/** One option of a command: its flags, its help, and how its text becomes a value. */
export type Option<T> = {
  flags: string;
  help: string;
  isRequired?: boolean;
  choices?: readonly string[];
  /** Can be given several times; collects the values. */
  isMany?: boolean;
  read: (input: never, source: OptionSource) => T | Promise<T>;
};
export type OptionSource = { shell: Shell; flags: string };
/** Options under the names of the API's fields. */
export type Options = Record<string, Option<unknown>>;
type Value<O, K extends keyof O> = O[K] extends Option<infer T> ? T : never;
/** An option that may be left out is an optional property. */
export type ValuesOf<O> = {
  [K in keyof O as undefined extends Value<O, K> ? never : K]: Value<O, K>;
} & {
  [K in keyof O as undefined extends Value<O, K> ? K : never]?: Exclude<Value<O, K>, undefined>;
};

/** Text, or what `read` makes of it. */
export function text(flags: string, help: string): Option<string | undefined>;
export function text<T>(flags: string, help: string, read: Read<T>): Option<T | undefined>;
export function text<T>(flags: string, help: string, read?: Read<T>): Option<T | string | undefined> {
  return {
    flags,
    help,
    read: (input: string | undefined, source: OptionSource) =>
      input === undefined ? undefined : read ? read(input, source) : input,
  };
}
type Read<T> = (input: string, source: OptionSource) => T | Promise<T>;

export function flag(flags: string, help: string): Option<true | undefined> {
  return { flags, help, read: (input: true | undefined) => input };
}

export function choice<const T extends string>(
  flags: string,
  help: string,
  choices: readonly T[],
): Option<T | undefined> {
  return { flags, help, choices, read: (input: T | undefined) => input };
}

export function required<T>(option: Option<T>): Option<Exclude<T, undefined>> {
  return { ...option, isRequired: true } as Option<Exclude<T, undefined>>;
}

/** The text that counts when the option is not given. */
export function fallback<T>(option: Option<T>, value: string): Option<Exclude<T, undefined>> {
  const read = option.read as (input: string, source: OptionSource) => Exclude<T, undefined>;
  return {
    ...option,
    help: `${option.help} (default: ${value})`,
    read: (input: string | undefined, source: OptionSource) => read(input ?? value, source),
  };
}

/** `--trait plan=pro --trait seats=3`. */
export function repeatable(flags: string, help: string): Option<readonly string[]> {
  return { flags, help, isMany: true, read: (input: readonly string[] | undefined) => input ?? [] };
}

/** Splits `key=value`. The value may contain further `=` signs. */
export function pairOf(input: string, name: string, form = 'key=value'): [key: string, value: string] {
  const at = input.indexOf('=');
  if (at > 0) return [input.slice(0, at), input.slice(at + 1)];
  throw usage(`${name}: write ${form}, not ${input}`, name);
}

export function whole(flags: string, help: string, [min, max]: [number, number]): Option<number | undefined> {
  return text(flags, help, (input, source) => {
    const value = /^\d{1,15}$/.test(input) ? Number(input) : -1;
    if (value >= min && value <= max) return value;
    throw invalid(source, `must be a whole number from ${min} to ${max}`);
  });
}

/** Some of the choices, with commas between them. */
export function choices<const T extends string>(
  flags: string,
  help: string,
  values: readonly T[],
): Option<T[] | undefined> {
  return text(flags, `${help}: ${values.join(', ')}`, (input) => listOf(input, values, longOf(flags)));
}

/** The values between the commas, each once. */
export function listOf<T extends string>(input: string, values: readonly T[], field: string): T[] {
  return [...new Set(input.split(',').map((value) => oneOf(value.trim(), values, field)))];
}

export function oneOf<T extends string>(input: string, values: readonly T[], field: string): T {
  const found = values.find((value) => value === input);
  if (found !== undefined) return found;
  throw usage(`${field}: ${input} is not one of ${values.join(', ')}`, field);
}

/** A moment, written as a time or as a duration from now: `ahead` reads `2h` as in two hours, `back` as two hours ago. */
export function time(flags: string, help: string, direction: 'ahead' | 'back'): Option<string | undefined> {
  return text(flags, help, (input, source) => {
    const ms = readDuration(input);
    if (ms === null) return readTime(input, source);
    return new Date(source.shell.now() + (direction === 'ahead' ? ms : -ms)).toISOString();
  });
}

/** A duration in whole units, such as `--overlap 24h` in hours. */
export function duration(flags: string, help: string, unit: keyof typeof UNITS): Option<number | undefined> {
  return text(flags, help, (input, source) => {
    const ms = input === '0' ? 0 : readDuration(input);
    if (ms !== null && ms % UNITS[unit] === 0) return ms / UNITS[unit];
    throw invalid(source, `must be a duration such as 12h or 7d, in whole ${UNIT_NAMES[unit]}`);
  });
}

/** The JSON object in a file, or on stdin for `-`. `fields`: it must have one of these, and no others. */
export function jsonFile(
  flags: string,
  help: string,
  fields?: readonly string[],
): Option<JsonObject | undefined> {
  return text(flags, help, async (input, source) => {
    const found = readObject(input, await readInput(input, source), source);
    const names = Object.keys(found);
    if (!fields || (names.length > 0 && names.every((name) => fields.includes(name)))) return found;
    throw invalid(source, `must hold only ${fields.join(' and ')}`);
  });
}

export function readObject(path: string, content: string, source: OptionSource): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw invalid(source, `${path} is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw invalid(source, `${path} must hold a JSON object`);
}

const FILE_MAX_BYTES = 16 * 1024 * 1024;

/** The text of a file, or of stdin for `-`. */
export async function readInput(path: string, { shell }: Pick<OptionSource, 'shell'>): Promise<string> {
  return path === '-'
    ? readAll(shell.stdin, FILE_MAX_BYTES)
    : fileResult('read', path, readFile(path, 'utf8'));
}

function readTime(input: string, source: Pick<OptionSource, 'flags'>): string {
  const at = /^\d{4}-\d\d-\d\d(?:$|[T ])/.test(input) ? new Date(input) : new Date(Number.NaN);
  if (!Number.isNaN(at.getTime())) return at.toISOString();
  throw invalid(source, `must be a time such as 2026-01-31T14:30:00Z or a duration such as 2h`);
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const UNIT_NAMES = { s: 'seconds', m: 'minutes', h: 'hours', d: 'days' } as const;

/** `90s`, `15m`, `24h`, `30d` in milliseconds; null for anything else. */
function readDuration(input: string): number | null {
  const found = /^(\d{1,6})([smhd])$/.exec(input);
  return found ? Number(found[1]) * UNITS[found[2] as keyof typeof UNITS] : null;
}

/** An error that begins with the name of the option. */
export function invalid({ flags }: Pick<OptionSource, 'flags'>, message: string): Failure {
  return usage(`${longOf(flags)} ${message}`, longOf(flags));
}

export function longOf(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}
