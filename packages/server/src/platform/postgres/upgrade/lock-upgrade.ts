import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, EmbeddedFailure } from '../failure.ts';
import { isAtWork } from '../process-command.ts';

/** Allows one upgrade at a time. The pid of a dead process does not block it. */
export async function lockUpgrade(dataDir: string): Promise<() => Promise<void>> {
  await refuseUpgraded(dataDir);
  const path = lockPath(dataDir);
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new EmbeddedFailure('cannot_upgrade', 'Another process is upgrading this database');
  });
  await file.writeFile(String(process.pid));
  await file.close();
  return () => rm(path, { force: true });
}

/** Throws while another process is upgrading this database. */
export async function refuseUpgraded(dataDir: string): Promise<void> {
  const holder = Number(await readFile(lockPath(dataDir), 'utf8').catch(() => ''));
  if (holder > 0 && isAtWork(holder))
    throw new EmbeddedFailure('cannot_upgrade', `Process ${holder} is upgrading this database`);
}

function lockPath(dataDir: string): string {
  return join(dataDir, 'upgrade.pid');
}
