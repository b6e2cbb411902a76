import type { FileRecord, MadeRecord } from '@beckon/contract/files';

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
