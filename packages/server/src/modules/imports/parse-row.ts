import { RECORD_MAX_BYTES, RECORD_MAX_VALUES } from '@beckon/contract';
import { scanJson } from '../../platform/text/json-scan.ts';

/**
 * A line may have 1 MiB, because most of its columns can be left out of the record. A hundred thousand values cost a tenth of a second. A
 * million brackets cost more and use 27 MB, so a long line is checked first.
 */
const BOUNDS = {
  depth: 32,
  values: 4 * RECORD_MAX_VALUES,
  valuesOfItem: 4 * RECORD_MAX_VALUES,
  scalarItems: Number.POSITIVE_INFINITY,
  keys: 4 * RECORD_MAX_VALUES,
  numberChars: Number.POSITIVE_INFINITY,
};

export type ParsedRow = { row: object } | { problem: string };

/** Parses a line of a file in JSON. */
export function parseRow(text: string): ParsedRow {
  if (text.length > RECORD_MAX_BYTES && scanJson(Buffer.from(text), BOUNDS).excess !== null)
    return { problem: 'The line is nested too deeply, or has too many values' };
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return { problem: 'The line is not JSON' };
  }
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return { row };
  return { problem: 'The line must be a JSON object' };
}
