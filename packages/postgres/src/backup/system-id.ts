import { open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { join, resolve } from 'node:path';
import { readFacts } from '../facts.ts';
import { codeOf } from '../failure.ts';

/** PostgreSQL assigns each cluster a number when it is created, and writes it into every WAL file. */
export const SYSTEM_ID = /^\d{1,20}$/;

const ID_BYTES = 8;

export async function readSystemId(data: string): Promise<string> {
  return read(await readHead(join(data, 'global', 'pg_control'), ID_BYTES), 0);
}

/** Returns the number of the cluster in a DATA_DIR; null if there is no cluster yet. */
export async function findSystemId(dataDir: string): Promise<string | null> {
  const facts = readFacts(dataDir);
  if (facts === undefined) return null;
  return readSystemId(resolve(dataDir, facts.data)).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    return null;
  });
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
