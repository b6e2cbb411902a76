import { readFile } from 'node:fs/promises';
import type { JsonObject, JsonValue } from '@beckon/contract';
import { usage } from './failure.ts';
import { readAll } from './read-all.ts';
import type { Shell } from './shell.ts';

const FILE_MAX_BYTES = 1024 * 1024;

export type PropertiesGiven = { pairs: readonly string[]; option: string; file?: string | undefined };

/** Properties as they were typed, `key=value` each, over those of a file where there is one. */
export async function readProperties(
  shell: Pick<Shell, 'stdin'>,
  { pairs, option, file }: PropertiesGiven,
): Promise<JsonObject> {
  const properties: JsonObject = file === undefined ? {} : await readObject(shell, file);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`${option}: write key=value, and not ${pair}`, option);
    Object.defineProperty(properties, pair.slice(0, at), {
      value: valueOf(pair.slice(at + 1)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return properties;
}

/** Collects an option that may be given again and again. */
export function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

/** JSON where it is some, text otherwise; a number only where nothing of it is lost, so that ids keep their digits. */
function valueOf(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === 'number' && String(value) !== text ? text : value;
  } catch {
    return text;
  }
}

async function readObject({ stdin }: Pick<Shell, 'stdin'>, file: string): Promise<JsonObject> {
  const text = file === '-' ? await readAll(stdin, FILE_MAX_BYTES) : await readText(file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usage(`--data: ${file} is no JSON`, '--data');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usage(`--data: ${file} holds no object`, '--data');
  return value as JsonObject;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw usage(`--data: ${file} cannot be read`, '--data');
  }
}
