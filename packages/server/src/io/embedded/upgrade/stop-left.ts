import { EmbeddedFailure } from '../failure.ts';
import type { Home } from '../home.ts';
import { isLocked, lockedBy } from '../lock-cluster.ts';
import { commandOf } from '../process-command.ts';
import { readPidFile, removeStalePidFile } from '../postmaster.ts';
import { renderArguments } from '../settings.ts';
import { stopPostmaster } from '../stop-postmaster.ts';

/** By which an upgrade serves the old files, and by which it is known. */
export const READ_ONLY = { default_transaction_read_only: 'on' };
const [, SAID = ''] = renderArguments(READ_ONLY);

/** What a killed upgrade has left running says so itself, and is ours to stop; a server is not. */
export async function stopLeft(old: Home): Promise<void> {
  const file = readPidFile(old.data);
  if (!file) return;
  const command = file.pid > 0 ? await commandOf(file.pid) : null;
  // The number may be another process's by now, a PostgreSQL among them; who cannot be asked may be the server's.
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

/** Whether this PostgreSQL was started by an upgrade. */
export function saysReadOnly(command: string | null | undefined): boolean {
  return command?.includes(SAID) ?? false;
}
