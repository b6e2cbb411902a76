import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const KEPT = /^\.pg\d+$/;

/** Lists the databases that upgrades kept beside the current one, each with its version in the name. */
export async function findKept(data: string): Promise<string[]> {
  const name = basename(data);
  const names = await readdir(dirname(data)).catch(() => []);
  return names
    .filter((one) => one.startsWith(name) && KEPT.test(one.slice(name.length)))
    .map((one) => join(dirname(data), one))
    .toSorted();
}
