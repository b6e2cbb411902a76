import { readFile } from 'node:fs/promises';
import { Fault } from '../base/fault.ts';

/** The object in a file that an operator names; it may have these keys and no others. */
export async function readJsonFile(path: string, keys: string[]): Promise<Record<string, unknown>> {
  const value = await readJson(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${path} must hold a JSON object with ${keys.join(' and ')}`);
  const unknown = Object.keys(value).filter((key) => !keys.includes(key));
  if (unknown.length === 0) return value as Record<string, unknown>;
  throw new Fault('validation_failed', {
    details: unknown.map((key) => ({
      message: `${key} is not known here: there may be ${keys.join(' and ')}`,
      field: key,
    })),
  });
}

/** Whatever a file says that an operator names. */
export async function readJson(path: string): Promise<unknown> {
  return parse(path, await readText(path));
}

export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw invalid(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function invalid(message: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field: 'file' }] });
}
