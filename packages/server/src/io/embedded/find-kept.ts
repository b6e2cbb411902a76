import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const KEPT = /^\.pg\d+$/;

/** What upgrades have kept beside the database, under the name that says its version. */
export async function findKept(data: string): Promise<string[]> {
  const name = basename(data);
  const names = await readdir(dirname(data)).catch(() => []);
  return names
    .filter((one) => one.startsWith(name) && KEPT.test(one.slice(name.length)))
    .map((one) => join(dirname(data), one))
    .toSorted();
}
