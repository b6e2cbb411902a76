import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { csvLine, REPORT_PREFIX } from '@beckon/contract/files';
import type { ImportFormat } from './options.ts';
import type { ImportRow } from './row.ts';

/** The rejected rows with the reason for each. The user can correct this file and import it. */
export type RejectedFile = {
  path: string;
  write(rows: readonly RejectedRow[]): Promise<void>;
  /** Size so far. */
  bytes(): number;
  close(): Promise<void>;
};
export type RejectedRow = { row: ImportRow; message: string; field: string | undefined };

type Kept = {
  /** Path of the imported file. */
  beside: string;
  format: ImportFormat;
  header: readonly string[] | null;
  delimiter: string;
  /** Bytes that an earlier run wrote up to its checkpoint; the rest is overwritten. */
  keepBytes: number;
};

const COLUMNS = ['line', 'field', 'message'].map((name) => `${REPORT_PREFIX}${name}`);

export async function openRejected({
  beside,
  format,
  header,
  delimiter,
  keepBytes,
}: Kept): Promise<RejectedFile> {
  const path = `${beside}.rejected.${format}`;
  const has =
    keepBytes === 0
      ? 0
      : await stat(path).then(
          ({ size }) => size,
          () => 0,
        );
  // The file is gone: start a new one.
  let bytes = has < keepBytes ? 0 : keepBytes;
  let file: FileHandle | null = null;
  if (bytes === 0) await rm(path, { force: true });

  async function opened(): Promise<FileHandle> {
    if (file !== null) return file;
    file = await open(path, bytes === 0 ? 'w' : 'r+');
    await file.truncate(bytes);
    if (bytes === 0 && header !== null)
      await append(file, `${csvLine([...COLUMNS, ...header], delimiter)}\n`);
    return file;
  }
  async function append(to: FileHandle, text: string): Promise<void> {
    const buffer = Buffer.from(text);
    await to.write(buffer, 0, buffer.length, bytes);
    bytes += buffer.length;
  }
  return {
    path,
    bytes: () => bytes,
    async write(rows) {
      if (rows.length === 0) return;
      await append(await opened(), rows.map((row) => lineOf(row, delimiter)).join(''));
    },
    close: async () => file?.close(),
  };
}

function lineOf({ row, message, field = '' }: RejectedRow, delimiter: string): string {
  const { line, cells } = row;
  if (typeof cells !== 'string') return `${csvLine([String(line), field, message, ...cells], delimiter)}\n`;
  return `${JSON.stringify({ ...objectOf(cells), [`${REPORT_PREFIX}line`]: line, [`${REPORT_PREFIX}field`]: field, [`${REPORT_PREFIX}message`]: message })}\n`;
}

function objectOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Not JSON: kept as text.
  }
  return { [`${REPORT_PREFIX}row`]: text };
}
