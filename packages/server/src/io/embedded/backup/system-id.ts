import { open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { constants, gunzip } from 'node:zlib';
import { readFacts } from '../facts.ts';
import { codeOf } from '../failure.ts';

/** PostgreSQL gives each cluster a number when it is made, and writes it into every file of its log. */
export const SYSTEM_ID = /^\d{1,20}$/;

const ID_BYTES = 8;
/** Where a file of the log has it, behind the header of its first page. */
const IN_LOG = 24;
/** Enough of a compressed file to have its beginning. */
const HEAD_BYTES = 4096;
const unzip = promisify(gunzip);

export async function readSystemId(data: string): Promise<string> {
  return read(await readHead(join(data, 'global', 'pg_control'), ID_BYTES), 0);
}

/** Of the cluster of a DATA_DIR; null where there is none yet. */
export async function findSystemId(dataDir: string): Promise<string | null> {
  const facts = readFacts(dataDir);
  if (facts === undefined) return null;
  return readSystemId(resolve(dataDir, facts.data)).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    return null;
  });
}

/** Null where it is no file of a log. */
export async function readSystemOfLog(path: string): Promise<string | null> {
  const head = await readHead(path, HEAD_BYTES);
  const text = await unzip(head, { finishFlush: constants.Z_SYNC_FLUSH }).catch(() => Buffer.alloc(0));
  return text.length < IN_LOG + ID_BYTES ? null : read(text, IN_LOG);
}

async function readHead(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function read(bytes: Buffer, at: number): string {
  return String(endianness() === 'LE' ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
}
