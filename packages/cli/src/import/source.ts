import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { delimiterOf } from '@beckon/contract/files';
import { Failure, usage } from '../failure.ts';
import type { Shell } from '../shell.ts';
import type { ImportFormat, ImportOptions } from './options.ts';

export type ImportSource = {
  /** For messages. */
  name: string;
  /** Null for stdin. */
  path: string | null;
  /** Recognizes the file in a later run; null for stdin, which is read only once. */
  identity: Identity | null;
  format: ImportFormat;
  delimiter: string;
  /** Reads from the beginning. */
  bytes(): AsyncIterable<Uint8Array>;
};
export type Identity = { sha256: string; bytes: number; lines: number };

const READ_BYTES = 256 * 1024;
const SAMPLE_CHARS = 64 * 1024;

export async function openSource(
  options: Pick<ImportOptions, 'file' | 'format' | 'delimiter'>,
  { cwd, stdin }: Pick<Shell, 'cwd' | 'stdin'>,
): Promise<ImportSource> {
  const { file } = options;
  if (file === '-') {
    const { sample, bytes } = await peek(inUtf8(stdin.chunks()));
    return { name: 'stdin', path: null, identity: null, bytes: () => bytes, ...shapeOf(sample, options) };
  }
  const path = resolve(cwd, file);
  await refuseUnreadable(path, file);
  const read = (): AsyncIterable<Uint8Array> => createReadStream(path, { highWaterMark: READ_BYTES });
  const { sample, identity } = await survey(read());
  return { name: basename(path), path, identity, bytes: read, ...shapeOf(sample, options) };
}

async function refuseUnreadable(path: string, file: string): Promise<void> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new Failure('usage', `Cannot read ${file}`, { cause, exit: 2 });
  });
  if (!found.isFile()) throw usage(`${file} is not a file`);
  if (found.size === 0) throw usage(`${file} is empty`);
}

/** Reads the whole file once, which is fast, to check its encoding and compute its identity. */
async function survey(bytes: AsyncIterable<Uint8Array>): Promise<{ sample: string; identity: Identity }> {
  const hash = createHash('sha256');
  const identity = { sha256: '', bytes: 0, lines: 0 };
  const sampling = new TextDecoder();
  let sample = '';
  for await (const piece of inUtf8(bytes)) {
    hash.update(piece);
    identity.bytes += piece.byteLength;
    identity.lines += countLines(piece);
    if (sample.length < SAMPLE_CHARS) sample += sampling.decode(piece, { stream: true });
  }
  identity.sha256 = hash.digest('hex');
  return { sample, identity };
}

function countLines(piece: Uint8Array): number {
  let lines = 0;
  for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Rejects other encodings, in which a spreadsheet may have saved names. */
async function* inUtf8(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const read = (piece?: Uint8Array): void => {
    try {
      decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw usage('The file is not in UTF-8. Save it as CSV UTF-8, or convert it with iconv.');
    }
  };
  for await (const piece of bytes) {
    read(piece);
    yield piece;
  }
  read();
}

async function peek(
  bytes: AsyncGenerator<Uint8Array>,
): Promise<{ sample: string; bytes: AsyncIterable<Uint8Array> }> {
  const first: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let sample = '';
  while (sample.trim() === '' || (!sample.includes('\n') && sample.length < SAMPLE_CHARS)) {
    const { done, value } = await bytes.next();
    if (done) break;
    first.push(value);
    sample += decoder.decode(value, { stream: true });
  }
  if (sample.trim() === '') throw usage('No input on stdin');
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield* first;
    yield* bytes;
  }
  return { sample, bytes: whole() };
}

const FORMATS: Record<string, ImportFormat> = { csv: 'csv', tsv: 'csv', jsonl: 'jsonl', ndjson: 'jsonl' };

function shapeOf(
  sample: string,
  { file, format, delimiter }: Pick<ImportOptions, 'file' | 'format' | 'delimiter'>,
): Pick<ImportSource, 'format' | 'delimiter'> {
  const firstChar = sample.trimStart().charAt(0);
  const known = format ?? FORMATS[file.slice(file.lastIndexOf('.') + 1).toLowerCase()];
  const found = known ?? (firstChar === '{' ? 'jsonl' : 'csv');
  if (firstChar === '[' && found === 'jsonl')
    throw usage('The file is one JSON array. Write one object per line, as jq -c ".[]" does.');
  return { format: found, delimiter: delimiter ?? delimiterOf(sample) };
}
