import { copyFile, stat, truncate } from 'node:fs/promises';

const LOG_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Keeps `postgres.log` small, with one older copy beside it. It is truncated in place and not renamed: PostgreSQL has the file open in
 * append mode, and continues at the new end.
 */
export async function boundLog(path: string, maxBytes = LOG_MAX_BYTES): Promise<void> {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size <= maxBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path, 0);
}
