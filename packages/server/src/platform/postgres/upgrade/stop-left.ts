import { EmbeddedFailure } from '../failure.ts';
import type { Home } from '../home.ts';
import { isLocked, lockedBy } from '../lock-cluster.ts';
import { commandOf } from '../process-command.ts';
import { readPidFile, removeStalePidFile } from '../postmaster.ts';
import { renderArguments } from '../settings.ts';
import { stopPostmaster } from '../stop-postmaster.ts';

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
