import { acquireHold } from './acquire-hold.ts';
import { archiveCommand, clusterArchive } from './backup/archive.ts';
import { readSystemId } from './backup/system-id.ts';
import type { Hold } from './hold.ts';
import { holdWritable } from './hold-writable.ts';
import type { Home } from './home.ts';
import { stopPostmaster } from './stop-postmaster.ts';

/**
 * Acquires a share in a PostgreSQL that archives its WAL, if BACKUP_DIR is set. One started without it, by a command or by a server that
 * was killed, does not archive, and only a restart can change that. So it is restarted if it has no other users.
 */
export async function holdArchiving(home: Home): Promise<Hold> {
  const hold = await holdWritable(home);
  const fault = await findFault(home, hold);
  if (fault === null) return hold;
  if (fault.isOperators) {
    report(home, fault);
    return hold;
  }
  // The connection breaks if another process is stopping PostgreSQL.
  if (await hold.becomeLastUser().catch(() => false)) {
    const signal = await stopPostmaster(home, hold.file.pid);
    home.log.info({ signal, data_dir: home.data }, 'postgres.stopped_to_archive');
  } else report(home, fault);
  await hold.close();
  return acquireHold(home);
}

/** For a caller that continues in any case. */
export async function reportArchiving(home: Home, hold: Hold): Promise<void> {
  const fault = await findFault(home, hold);
  if (fault !== null) report(home, fault);
}

type Fault = { mode: string; command: string; isOperators: boolean };

async function findFault({ archive, data }: Home, hold: Hold): Promise<Fault | null> {
  if (archive === null) return null;
  const wanted = archiveCommand(clusterArchive(archive, await readSystemId(data)));
  const { mode, command, isOperators } = await hold.readArchiving();
  return mode === 'on' && command === wanted ? null : { mode, command, isOperators };
}

function report({ log, data }: Home, { mode, command }: Fault): void {
  const advice =
    'BACKUP_DIR is set, but the log is not copied there. Run beckon-server doctor, which suggests a fix';
  log.error(
    { data_dir: data, archive_mode: mode, archive_command: command, advice },
    'postgres.not_archiving',
  );
}
