import { chown, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Home } from '../home.ts';
import { historyName, readHistory } from './timelines.ts';

const KEPT = /^([0-9A-F]{8})(?:[0-9A-F]{16}|\.history)\.gz$/;

/**
 * PostgreSQL numbers the timeline of a restore after the followed one, and takes the first number without a history file. A number whose
 * history was lost would be assigned twice, and its WAL would be mixed. So an empty file reserves each such number until the restore has
 * its own.
 */
export async function reserveNumbers(
  { data, runAs }: Pick<Home, 'data' | 'runAs'>,
  { archive, followed }: { archive: string | undefined; followed: number },
): Promise<() => Promise<void>> {
  if (archive === undefined) return async () => {};
  const kept = await readdir(archive);
  const given = new Set(kept.map((name) => Number.parseInt(KEPT.exec(name)?.[1] ?? '0', 16)));
  const standing: string[] = [];
  for (const number of given) {
    const name = historyName(number);
    if (number <= followed || (await isReadable(join(archive, name)))) continue;
    const path = join(data, 'pg_wal', basename(name, '.gz'));
    await writeFile(path, '', { mode: 0o600 });
    standing.push(path);
    if (runAs) await chown(path, runAs.uid, runAs.gid);
  }
  return async () => {
    for (const path of standing) await rm(path, { force: true });
  };
}

async function isReadable(history: string): Promise<boolean> {
  return readHistory(history).then(
    () => true,
    () => false,
  );
}
