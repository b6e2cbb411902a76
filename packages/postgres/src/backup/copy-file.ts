import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

const AT_ONCE = 8;
const CHUNK_BYTES = 1024 * 1024;
/** A file counts as copied only after it is synced to disk. */
const MODE = 0o600;

export type CopiedFile = { bytes: number; sha256: string };

/** Copies a whole file in pieces, and returns the size and hash of the bytes read. Fails if the target exists. */
export async function copyFileSafely(from: string, to: string): Promise<CopiedFile> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const source = await open(from, 'r');
  try {
    const target = await open(to, 'wx', MODE);
    try {
      const copied = await pump(source, (piece) => writeAll(target, piece));
      await target.sync();
      return copied;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

export async function hashFile(path: string): Promise<CopiedFile> {
  const source = await open(path, 'r');
  try {
    return await pump(source, () => Promise.resolve());
  } finally {
    await source.close();
  }
}

/**
 * Works on several items at a time: each waits for the disk, and a disk handles many at once. After all have ended, it rejects with the
 * first failure.
 */
export async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const item of remaining) await work(item);
  });
  const ended = await Promise.allSettled(workers);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

async function pump(source: FileHandle, take: (piece: Buffer) => Promise<void>): Promise<CopiedFile> {
  const hash: Hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await take(piece);
    bytes += bytesRead;
  }
}

async function writeAll(target: FileHandle, piece: Buffer): Promise<void> {
  for (let offset = 0; offset < piece.length;) {
    const { bytesWritten } = await target.write(piece, offset, piece.length - offset);
    offset += bytesWritten;
  }
}

export async function writeSafely(path: string, content: string | Buffer): Promise<void> {
  const file = await open(path, 'wx', MODE);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name is durable only once its folder is. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
