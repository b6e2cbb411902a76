import { ERRORS_MAX } from '@beckon/contract';
import type { FieldFault } from '../fault.ts';

/** A place in the document that is read. All errors go to one list for the whole document. */
export type ParsePosition = { state: ParseState; path: Path };
/** `whole` names the document in messages about all of it. */
export type ParseState = { whole: 'definition' | 'rule'; findings: Finding[]; conditions: number };
type Path = readonly (string | number)[];
type Finding = { path: Path; message: string };
export type JsonObject = Record<string, unknown>;

export function startParse(whole: ParseState['whole']): ParsePosition {
  return { state: { whole, findings: [], conditions: 0 }, path: [] };
}

export function inside({ state, path }: ParsePosition, key: string | number): ParsePosition {
  return { state, path: [...path, key] };
}

/** A document can have a hundred thousand errors. Only this many are sorted and reported. */
const FINDINGS_MAX = 1_000;

/** Adds an error. The message follows the name of the field: `must be a string`. */
export function refuse({ state, path }: ParsePosition, message: string): undefined {
  if (state.findings.length < FINDINGS_MAX) state.findings.push({ path, message });
}

/**
 * Limits the conditions of a document, including the tests in `where`. Each test is one more condition in SQL, and 4,000
 * of them kept the planner of PostgreSQL busy for more than ten seconds.
 */
export const CONDITIONS_MAX = 200;

/** Counts a condition. Returns false beyond the limit, with an error for the first one, so the rest is not read. */
export function takeCondition(position: ParsePosition): boolean {
  position.state.conditions += 1;
  if (position.state.conditions === CONDITIONS_MAX + 1) {
    refuse(
      position,
      `is one condition too many: a ${position.state.whole} has at most ${CONDITIONS_MAX}, including the tests in where`,
    );
  }
  return position.state.conditions <= CONDITIONS_MAX;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the known keys of an object, in the order of the object. */
export function keysOf<K extends string>(object: JsonObject, allowedKeys: readonly K[]): K[] {
  return Object.keys(object).filter((key): key is K => (allowedKeys as readonly string[]).includes(key));
}

export function refuseOthers(
  position: ParsePosition,
  object: JsonObject,
  allowedKeys: readonly string[],
): void {
  const others = Object.keys(object).filter((key) => !allowedKeys.includes(key));
  for (const key of others.slice(0, ERRORS_MAX)) {
    refuse(inside(position, key), `is unknown here. Use ${listOf(allowedKeys)}`);
  }
}

export function listOf(words: readonly string[], last = 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** Returns the errors in the order of the document: a whole before its parts, and missing fields last. */
export function faultsOf({ whole, findings }: ParseState, document: unknown): FieldFault[] {
  return findings
    .map((finding) => ({ finding, ranks: ranksOf(finding.path, document) }))
    .toSorted((a, b) => compareRanks(a.ranks, b.ranks))
    .slice(0, ERRORS_MAX)
    .map(({ finding }) => toFault(finding, whole));
}

function ranksOf(path: Path, document: unknown): number[] {
  let here = document;
  return path.map((key) => {
    const keys = typeof here === 'object' && here !== null ? Object.keys(here) : [];
    const rank = keys.indexOf(String(key));
    here = rank === -1 ? undefined : (here as JsonObject)[String(key)];
    return rank === -1 ? keys.length : rank;
  });
}

function compareRanks(a: number[], b: number[]): number {
  for (const [i, rank] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    if (rank !== other) return rank - other;
  }
  return a.length - b.length;
}

const KEY_SHOWN_CHARS = 255;

function toFault({ path, message }: Finding, whole: ParseState['whole']): FieldFault {
  if (path.length === 0) return { message: `The ${whole} ${message}` };
  // The path is part of the response, so it must be well-formed text.
  const field = path
    .map((key) => String(key).slice(0, KEY_SHOWN_CHARS).toWellFormed().replaceAll('\0', '\uFFFD'))
    .join('.');
  return { message: `${field} ${message}`, field };
}
