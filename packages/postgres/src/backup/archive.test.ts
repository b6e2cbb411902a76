import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { restoreCommand } from './archive.ts';

test('names the command that makes an unreadable WAL archive readable', async () => {
  const above = await mkdtemp(join(tmpdir(), 'beckon-log-'));
  onTestFinished(() => rm(above, { recursive: true }));
  const folder = join(above, 'wal');
  await mkdir(folder);
  await writeFile(join(folder, '000000010000000000000001.gz'), '', { mode: 0o600 });
  const runAs = { uid: 54_321, gid: 54_321, name: 'plain' };
  const closedTo = (path: string, next: string): string =>
    `${path} is not readable by plain, the user of PostgreSQL. Run: ${next}`;

  await chmod(above, 0o755);
  await expect(restoreCommand(folder, { runAs })).rejects.toThrow(
    closedTo(join(folder, '000000010000000000000001.gz'), `chown -R plain ${folder}`),
  );
  await chmod(above, 0o700);
  await expect(restoreCommand(folder, { runAs })).rejects.toThrow(closedTo(above, `chmod o+x ${above}`));
  expect(await restoreCommand(folder, { runAs: undefined })).toContain(folder);
});
