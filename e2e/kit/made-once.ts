import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;

/** Makes something once per run of the tests: the first test file makes it in the folder, and the others wait for its description. */
export async function madeOnce<T>(name: string, make: (folder: string) => Promise<T>): Promise<T> {
  // Imported here, because scripts use this kit without vitest.
  const { inject } = await import('vitest');
  const folder = join(inject('sharedFolder'), name);
  const [made, failed] = [join(folder, 'made.json'), join(folder, 'failed')];
  // Only one process creates a folder.
  const isFirst = await mkdir(folder).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    try {
      const partial = `${made}.partial`;
      await writeFile(partial, JSON.stringify(await make(folder)));
      await rename(partial, made);
    } catch (error) {
      await writeFile(failed, String(error));
      throw error;
    }
  }
  while (!existsSync(made)) {
    if (existsSync(failed)) throw new Error(`${name} could not be made: ${await readFile(failed, 'utf8')}`);
    await wait(LOOK_EVERY_MS);
  }
  return JSON.parse(await readFile(made, 'utf8')) as T;
}
