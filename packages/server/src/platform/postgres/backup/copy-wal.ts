import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, constants } from 'node:zlib';
import { hashFile } from './copy-file.ts';
import { type BackupFile, WAL, WAL_NAME } from './manifest.ts';

/** Copies the WAL files of the range, compressed: the copied data files need them to become consistent. */
export async function copyWal(
  from: { data: string; first: string; last: string },
  backup: string,
): Promise<BackupFile[]> {
  const folder = join(from.data, 'pg_wal');
  await mkdir(join(backup, WAL), { mode: 0o700 });
  const names = (await readdir(folder)).filter(
    (name) => (WAL_NAME.test(name) && name >= from.first && name <= from.last) || name.endsWith('.history'),
  );
  if (!names.includes(from.first) || !names.includes(from.last))
    throw new Error(`the log from ${from.first} to ${from.last} is incomplete in ${folder}`);
  const files: BackupFile[] = [];
  for (const name of names.toSorted()) {
    const path = `${WAL}/${name}.gz`;
    await compress(join(folder, name), join(backup, path));
    files.push({ path, ...(await hashFile(join(backup, path))) });
  }
  return files;
}

async function compress(from: string, to: string): Promise<void> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  await pipeline(createReadStream(from), gzip, createWriteStream(to, { flags: 'wx', mode: 0o600 }));
  const file = await open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
