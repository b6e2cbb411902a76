import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, EmbeddedFailure } from '../failure.ts';
import type { Home } from '../home.ts';
import { isLocked, lockedBy } from '../lock-cluster.ts';
import { readPidFile, removeStalePidFile, stopPostmaster } from '../postmaster.ts';
import { commandOf, isAtWork } from '../process-command.ts';
import { renderArguments } from '../settings.ts';

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

/** The setting with which an upgrade serves the old files. It also identifies such a process. */
export const READ_ONLY = { default_transaction_read_only: 'on' };
const [, SAID = ''] = renderArguments(READ_ONLY);

/** Stops a PostgreSQL left running by a killed upgrade, which its command line proves. It does not stop that of a server. */
export async function stopLeft(old: Home): Promise<void> {
  const file = readPidFile(old.data);
  if (!file) return;
  const command = file.pid > 0 ? await commandOf(file.pid) : null;
  // The pid may have been reused, even by another PostgreSQL. A process that cannot be inspected may be the server's.
  if (command !== undefined && !command?.includes(`-D ${old.data} `)) {
    if (await isLocked(old)) throw lockedBy(old.data);
    return removeStalePidFile(old.data, file);
  }
  if (!saysReadOnly(command))
    throw new EmbeddedFailure(
      'cannot_upgrade',
      `Process ${file.pid} uses ${old.data}. Stop the server first`,
    );
  await stopPostmaster(old, file.pid);
}

/** Returns whether an upgrade started this PostgreSQL. */
export function saysReadOnly(command: string | null | undefined): boolean {
  return command?.includes(SAID) ?? false;
}
