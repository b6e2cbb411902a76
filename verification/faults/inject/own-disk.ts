import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const MIB = 1024 * 1024;
const SIZE_BYTES = 6 * 1024 * MIB;
const UNMOUNT_TRIES = 20;
const UNMOUNT_AGAIN_MS = 250;

/**
 * Mounts a disk for one directory alone, which can be filled without affecting others. The disk is a sparse file next to the directory.
 * Mounting requires root and a kernel that allows it; otherwise the result is null and the directory is unchanged. The disk is kept between
 * two runs with the same directory.
 */
export async function mountOwnDisk(folder: string): Promise<{ unmount(): Promise<void> } | null> {
  if (process.getuid?.() !== 0) return null;
  const image = `${folder}.disk`;
  const isNew = !existsSync(image);
  try {
    if (isNew) await makeImage(image);
    await run('mount', ['-o', 'loop', image, folder]);
  } catch {
    if (isNew) await rm(image, { force: true });
    return null;
  }
  return { unmount: () => unmount(folder) };
}

async function makeImage(image: string): Promise<void> {
  const file = await open(image, 'w');
  await file.truncate(SIZE_BYTES);
  await file.close();
  // No blocks are reserved for root.
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
}

/** A process that was killed a moment ago may still hold the disk. */
async function unmount(folder: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await run('umount', [folder]);
      return;
    } catch (error) {
      if (tries === UNMOUNT_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, UNMOUNT_AGAIN_MS));
    }
  }
}

/** Returns whether this directory is on a disk of its own, by its size. No other disk is ever filled. */
export async function isOwnDisk(folder: string): Promise<boolean> {
  const { blocks, bsize } = await statfs(folder);
  return blocks * bsize <= SIZE_BYTES;
}

/** Takes all the space that is left. The returned function frees it again. */
export async function fillDisk(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, 'fill');
  const { bavail, bsize } = await statfs(folder);
  await run('fallocate', ['-l', String(Math.max(bsize, bavail * bsize)), file]).catch(() => {});
  return () => rm(file, { force: true });
}
