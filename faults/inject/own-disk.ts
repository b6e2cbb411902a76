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
 * A disk for one folder alone, that can be filled without anybody else noticing: a file of its own beside it, which holds as
 * much as was written and no more. It takes root and a kernel that mounts; null where there is none of that, and then the folder is
 * as it was. The disk is kept between two runs at the same folder.
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
  // Nothing is kept back for root.
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
}

/** Whoever was killed on it a moment ago may hold it still. */
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

/** Whether this folder lies on a disk of its own, by its size: nothing else is ever filled. */
export async function isOwnDisk(folder: string): Promise<boolean> {
  const { blocks, bsize } = await statfs(folder);
  return blocks * bsize <= SIZE_BYTES;
}

/** Takes all that is left. What it gives back frees it again. */
export async function fillDisk(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, 'as-full-as-it-gets');
  const { bavail, bsize } = await statfs(folder);
  await run('fallocate', ['-l', String(Math.max(bsize, bavail * bsize)), file]).catch(() => {});
  return () => rm(file, { force: true });
}
