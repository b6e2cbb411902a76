import type { FileRecord, MadeRecord } from '@beckon/contract/files';

/** A row of the file: the record to send, and the original cells in case it is rejected. */
export type ImportRow = {
  external_user_id: string;
  /** Name of an event. */
  name: string;
  line: number;
  /** The cells of CSV, the line of JSONL. */
  cells: readonly string[] | string;
  /** Found before sending. */
  problem: { message: string; field?: string | undefined } | null;
  /** The record to send; throws if there is a problem. */
  toJSON(): FileRecord;
};

export function makeRow({ line, cells }: Pick<ImportRow, 'line' | 'cells'>, made: MadeRecord): ImportRow {
  if ('record' in made) {
    const { record } = made;
    const { external_user_id } = record;
    const name = 'name' in record ? record.name : '';
    return { external_user_id, name, line, cells, problem: null, toJSON: () => record };
  }
  const { message, field } = made;
  const toJSON = (): never => {
    throw new Error(message);
  };
  const problem = { message, field: field ?? undefined };
  return { external_user_id: '', name: '', line, cells, problem, toJSON };
}
