import type { FastifyInstance } from 'fastify';
import {
  JSON_MAX_DEPTH,
  JSON_MAX_NUMBER_CHARS,
  RECORD_MAX_VALUES,
  REQUEST_MAX_SCALAR_ITEMS,
  REQUEST_MAX_VALUES,
} from '@beckon/contract';
import { Fault, type FieldFault } from '../fault.ts';
import { type JsonBounds, type JsonCounts, type JsonExcess, scanJson } from '../text/json-scan.ts';

/**
 * Bounds of a body of the public API. They are wider than those of a record. A record that breaks only its own bounds is rejected by its
 * path, and alone in a bulk request. A free-form field of 10 levels is inside the body, the list and the record: 13 levels.
 */
const API = {
  depth: JSON_MAX_DEPTH + 6,
  keys: 20_000,
  numberChars: JSON_MAX_NUMBER_CHARS,
  scalarItems: REQUEST_MAX_SCALAR_ITEMS,
};
export const SINGLE_JSON: JsonBounds = {
  ...API,
  values: RECORD_MAX_VALUES,
  valuesOfItem: RECORD_MAX_VALUES,
};
export const MANY_JSON: JsonBounds = {
  ...API,
  values: REQUEST_MAX_VALUES,
  valuesOfItem: 4 * RECORD_MAX_VALUES,
};

/** A rule or an audience nests about forty levels at most; lists of ids have a thousand items. */
const FORM_JSON: JsonBounds = {
  depth: 64,
  keys: 1_000,
  values: 20_000,
  valuesOfItem: 20_000,
  scalarItems: 20_000,
  numberChars: JSON_MAX_NUMBER_CHARS,
};

/** Rejects, before parsing, a body that cannot be a valid request. */
export function checkJson(bytes: Buffer, bounds: JsonBounds): JsonCounts {
  const { excess, ...counts } = scanJson(bytes, bounds);
  if (excess) throw new Fault('validation_failed', { details: [faultOf(excess, bounds)] });
  return counts;
}

/**
 * Returns the bytes that a parsed body keeps in the heap, at most. Measured on Node 26 by `JSON.parse` of 10 MiB of one shape. A value
 * takes up to 99 bytes (`{"99":0}`, an object with an integer key, counts as two) and an array item `-0` takes 24. Text takes two bytes per
 * byte where it is stored in UTF-16.
 */
export function heapBytesOf({ values, scalarItems }: JsonCounts, bytes: number): number {
  return bytes * TEXT_BYTES + values * VALUE_BYTES + scalarItems * SCALAR_ITEM_BYTES;
}

export const TEXT_BYTES = 2;
const VALUE_BYTES = 112;
const SCALAR_ITEM_BYTES = 24;

/** Checks the JSON bodies of a scope before Fastify parses them. */
export function checkJsonBodies(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser('error', 'error');
  scope.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    function parseChecked(request, bytes, done) {
      try {
        checkJson(bytes, FORM_JSON);
      } catch (error) {
        return done(error as Fault);
      }
      void parse(request, bytes.toString(), done);
    },
  );
}

function faultOf({ bound, field }: JsonExcess, bounds: JsonBounds): FieldFault {
  const name = field ?? 'The body';
  const most = bounds[bound].toLocaleString('en-US');
  return { message: `${name} ${WORDS[bound](most)}`, field: field ?? 'body' };
}

const WORDS: Record<keyof JsonBounds, (most: string) => string> = {
  depth: (most) => `is nested too deeply: the body may have at most ${most} levels`,
  keys: (most) => `must not have an object with more than ${most} keys`,
  numberChars: (most) => `must not have a number longer than ${most} characters`,
  values: (most) => `must not have more than ${most} values`,
  valuesOfItem: (most) => `must not have an item with more than ${most} values`,
  scalarItems: (most) => `must not have more than ${most} numbers, booleans and nulls in arrays`,
};
