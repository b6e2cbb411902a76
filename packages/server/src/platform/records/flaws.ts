import {
  ERRORS_MAX,
  JSON_MAX_ARRAY_ITEMS,
  JSON_MAX_DEPTH,
  JSON_MAX_KEY_CHARS,
  JSON_MAX_OBJECT_KEYS,
  RECORD_MAX_VALUES,
} from '@beckon/contract';
import { Ajv, type ErrorObject } from 'ajv';
import type { TSchema } from 'typebox';
import type { FieldFault } from '../fault.ts';

/** Checked by our own functions, which are more precise than a pattern. Listed here so that Ajv accepts the schema. */
const FORMATS = { email: true, 'date-time': true } as const;
const OPTIONS = {
  formats: FORMATS,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
} as const;

export type Shape = { fits(value: unknown): boolean; faults(value: unknown): FieldFault[] };

/** Compiles two functions per schema: one that stops at the first error and builds no list, and one for the response. */
export function compileShape(schema: TSchema): Shape {
  const quick = new Ajv(OPTIONS).compile(schema);
  const whole = new Ajv({ ...OPTIONS, allErrors: true }).compile(schema);
  return {
    fits: (value) => quick(value) as boolean,
    faults: (value) => (whole(value) ? [] : (whole.errors ?? []).map(toFault)),
  };
}

function toFault(error: ErrorObject): FieldFault {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer);
  if (error.keyword === 'required') path.push(String(error.params['missingProperty']));
  const field = path.join('.');
  return field === ''
    ? { message: 'The record must be an object' }
    : { message: `${field} ${sayWhat(error)}`, field };
}

function sayWhat(error: ErrorObject): string {
  const limit = String(error.params['limit']);
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${article(String(error.params['type']))}`;
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must not be longer than ${limit} characters`;
    default:
      return error.message ?? 'is not valid';
  }
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

type Traversal = {
  flaws: FieldFault[] | null;
  checkStrings: boolean;
  /** The remaining number of values that the record may have; below 0, the walk has ended. */
  valuesLeft: number;
};
/** A container on the path to a value. Only containers get a `PathNode`, so that a record of plain values is walked without allocation. */
type PathNode = { traversal: Traversal; parent: PathNode | null; key: string | number; level: number };

const NO_FLAWS: FieldFault[] = [];

/**
 * Finds content that PostgreSQL cannot store or that is out of bounds: NUL and lone surrogates, numbers beyond a double, and structures too
 * deep or too wide. Levels count from the value of a top-level field. `checkStrings` may be false if the raw body had no `\u` escape and
 * was valid UTF-8. Then no string can contain NUL or a lone surrogate.
 */
export function flawsOf(record: object, checkStrings: boolean): FieldFault[] {
  const traversal: Traversal = { flaws: null, checkStrings, valuesLeft: RECORD_MAX_VALUES };
  visitObject(record as Record<string, unknown>, { traversal, parent: null, key: '', level: 0 });
  return traversal.flaws ?? NO_FLAWS;
}

function visitObject(object: Record<string, unknown>, node: PathNode): void {
  const { traversal } = node;
  let keys = 0;
  for (const key in object) {
    keys += 1;
    if (!countValue(node)) return;
    if (keys > JSON_MAX_OBJECT_KEYS) {
      return report(node, `must not have more than ${JSON_MAX_OBJECT_KEYS} keys`);
    }
    if (key.length > JSON_MAX_KEY_CHARS) {
      report(node, `must not have a key longer than ${JSON_MAX_KEY_CHARS} characters`);
    } else if (traversal.checkStrings && !isStorable(key)) {
      report(node, 'must not have a key that contains NUL or a lone surrogate');
    } else {
      visit(object[key], key, node);
    }
  }
}

function visitArray(items: unknown[], node: PathNode): void {
  if (items.length > JSON_MAX_ARRAY_ITEMS) {
    return report(node, `must not have more than ${JSON_MAX_ARRAY_ITEMS} items`);
  }
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i];
    const isCounted = typeof item === 'string' || (typeof item === 'object' && item !== null);
    if (isCounted && !countValue(node)) return;
    visit(item, i, node);
  }
}

/** Counts like `scanJson`. Returns false if this or an earlier value exceeded the bound. */
function countValue(node: PathNode): boolean {
  const { traversal } = node;
  if (traversal.valuesLeft < 0) return false;
  traversal.valuesLeft -= 1;
  if (traversal.valuesLeft >= 0) return true;
  report(outermost(node), `must not have more than ${RECORD_MAX_VALUES.toLocaleString('en-US')} values`);
  return false;
}

/** Returns the top-level field that contains a place. */
function outermost(node: PathNode): PathNode {
  let at = node;
  while (at.parent?.parent) at = at.parent;
  return at;
}

function visit(value: unknown, key: string | number, parent: PathNode): void {
  if (typeof value === 'object' && value !== null) {
    const node = { traversal: parent.traversal, parent, key, level: parent.level + 1 };
    if (node.level > JSON_MAX_DEPTH) report(node, `must not be nested deeper than ${JSON_MAX_DEPTH} levels`);
    else if (Array.isArray(value)) visitArray(value, node);
    else visitObject(value as Record<string, unknown>, node);
    return;
  }
  const flaw = scalarFlaw(value, parent.traversal);
  if (flaw) report({ traversal: parent.traversal, parent, key, level: parent.level + 1 }, flaw);
}

function scalarFlaw(value: unknown, traversal: Traversal): string | undefined {
  if (typeof value === 'string') {
    return traversal.checkStrings && !isStorable(value)
      ? 'must not contain NUL or a lone surrogate'
      : undefined;
  }
  return typeof value === 'number' && !Number.isFinite(value)
    ? 'must be a number that fits a 64-bit float'
    : undefined;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function report(node: PathNode, message: string): void {
  node.traversal.flaws ??= [];
  if (node.traversal.flaws.length >= ERRORS_MAX) return;
  const field = pathOf(node);
  node.traversal.flaws.push(
    field === '' ? { message: `The record ${message}` } : { message: `${field} ${message}`, field },
  );
}

function pathOf(node: PathNode): string {
  if (!node.parent) return '';
  // The path is part of the response, so it must be well-formed text.
  const key = String(node.key).toWellFormed().replaceAll('\0', '\uFFFD');
  const above = pathOf(node.parent);
  return above === '' ? key : `${above}.${key}`;
}
