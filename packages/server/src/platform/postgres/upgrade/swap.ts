import { readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder, writeSafely } from '../backup/copy-file.ts';
import { codeOf, EmbeddedFailure } from '../failure.ts';
import { isInitialized } from '../home.ts';

/**
 * `postgres` becomes `postgres.pg17`, and the new folder beside it becomes `postgres`. Between the two renames a note records the first
 * one. It allows reverting that if the process is killed there or the second one fails.
 */
const NOTE = 'upgrade.kept';

export type Swapping = { data: string; fresh: string; kept: string };

export async function swap({ data, fresh, kept }: Swapping): Promise<void> {
  await rm(kept, { recursive: true, force: true });
  const note = join(dirname(data), NOTE);
  await rm(note, { force: true });
  await writeSafely(note, basename(kept));
  await syncFolder(dirname(data));
  await rename(data, kept);
  try {
    await rename(fresh, data);
  } catch (error) {
    await putBack(data);
    throw error;
  }
  await syncFolder(dirname(data));
  await rm(note, { force: true });
}

/** Reverts only the rename in the note, because another folder with such a name may be years old. */
export async function putBack(data: string): Promise<void> {
  const note = join(dirname(data), NOTE);
  if (!isInitialized(data)) {
    const name = await readFile(note, 'utf8').catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      return null;
    });
    if (name === null) return;
    await rename(join(dirname(data), basename(name)), data);
    await syncFolder(dirname(data));
  }
  await rm(note, { force: true });
}

/** Checked before an hour of copying, not after it. */
export async function checkSwappable(data: string): Promise<void> {
  const [own, around] = [await stat(data), await stat(dirname(data))];
  if (own.dev === around.dev) return;
  throw new EmbeddedFailure(
    'cannot_upgrade',
    `${data} is a separate file system, which an upgrade cannot rename. Mount ${dirname(data)} instead, with the database in it`,
  );
}
