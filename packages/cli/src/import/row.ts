import type { ImportRecord } from './plan.ts';
import { RowProblem } from './values.ts';

/** A row of the file on its way: what is sent of it, and what it was, should it come back. */
export type ImportRow = {
  external_user_id: string;
  /** Of an event. */
  name: string;
  line: number;
  /** The cells of CSV, the line of JSONL. */
  cells: readonly string[] | string;
  /** Known before it was sent. */
  problem: { message: string; field?: string | undefined } | null;
  /** What goes over the wire; it throws where there is a problem, and the row is not sent. */
  toJSON(): ImportRecord;
};

/** `read` gives the record, or says why there is none. */
export function makeRow(
  { line, cells }: Pick<ImportRow, 'line' | 'cells'>,
  read: () => ImportRecord | string,
): ImportRow {
  const found = attempt(read);
  if (!('message' in found)) {
    const { record } = found;
    const { external_user_id, name = '' } = record;
    return { external_user_id, name, line, cells, problem: null, toJSON: () => record };
  }
  const toJSON = (): never => {
    throw new Error(found.message);
  };
  return { external_user_id: '', name: '', line, cells, problem: found, toJSON };
}

type Problem = { message: string; field?: string | undefined };

function attempt(read: () => ImportRecord | string): { record: ImportRecord } | Problem {
  try {
    const record = read();
    return typeof record === 'string' ? { message: record } : { record };
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error;
    return { message: error.message, field: error.field };
  }
}
