import type { EventInput, UserInput } from '@beckon/contract';
import { readEvent, type ReadRecord, readUser } from '../../../platform/records/record.ts';
import type { ImportFindingRow } from '../store.ts';
import type { ImportChunk } from '../source.ts';
import { RAW_MAX_CHARS } from '../import.ts';

/** A chunk as it will be stored: each record is validated like a record of a bulk request. */
export type ReadChunk = {
  users: ValidRecord<UserInput>[];
  events: ValidRecord<EventInput>[];
  /** Rows that the source could not read and records that the API rejects. */
  rejected: RowFinding[];
};
/** A finding before it is written, with its user id if the row has one. */
export type RowFinding = ImportFindingRow & { userId: string | null };
export type ValidRecord<T> = { record: T; text: string };

export function readChunk(chunk: ImportChunk, options: { now: number; suppress: boolean }): ReadChunk {
  const rejected: RowFinding[] = chunk.rejected.map(({ row, field, message, raw, userId }) => ({
    kind: REJECTED,
    line: row,
    field,
    message,
    raw: rawOf(raw),
    userId,
  }));
  const { now, suppress } = options;
  const users = validRecords(chunk.users, {
    read: readUser,
    rows: chunk.userRows,
    rejected,
    now,
    suppress: false,
  });
  const events = validRecords(chunk.events, {
    read: readEvent,
    rows: chunk.eventRows,
    rejected,
    now,
    suppress,
  });
  return { users, events, rejected };
}

export const REJECTED = 'rejected';

type RecordsInput = {
  read: ReadRecord;
  rows: number[] | undefined;
  rejected: RowFinding[];
  now: number;
  suppress: boolean;
};

function validRecords<T extends UserInput | EventInput>(
  records: T[],
  { read, rows, rejected, now, suppress }: RecordsInput,
): ValidRecord<T>[] {
  return records.flatMap((record, i) => {
    const text = read(record, { now, checkStrings: true, suppress });
    if (typeof text === 'string') return [{ record, text }];
    const [fault] = text;
    rejected.push({
      kind: REJECTED,
      line: rows?.[i] ?? null,
      field: fault?.field ?? null,
      message: fault?.message ?? 'The record is not valid',
      raw: rawOf(JSON.stringify(record)),
      userId: record.external_user_id,
    });
    return [];
  });
}

/** Cuts and cleans the text of a row, because it is stored and shown. */
function rawOf(text: string): string {
  return text.slice(0, RAW_MAX_CHARS).toWellFormed().replaceAll('\0', '\u{FFFD}');
}
