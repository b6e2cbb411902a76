import { acquireHold, type Hold } from './hold.ts';
import { archiveCommand, clusterArchive } from './backup/archive.ts';
import { readSystemId } from './backup/system-id.ts';
import { EmbeddedFailure } from './failure.ts';
import type { Home } from './home.ts';
import { commandOf } from './process-command.ts';
import { stopPostmaster } from './postmaster.ts';
import { refuseUpgraded, saysReadOnly } from './upgrade/guard-upgrade.ts';
import { waitUntil } from './wait-until.ts';

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
  const expected = archiveCommand(clusterArchive(archive, await readSystemId(data)));
  const { mode, command, isOperators } = await hold.readArchiving();
  return mode === 'on' && command === expected ? null : { mode, command, isOperators };
}

function report({ log, data, product }: Home, { mode, command }: Fault): void {
  const advice = `BACKUP_DIR is set, but the log is not copied there. Run ${product.command} doctor, which suggests a fix`;
  log.error(
    { data_dir: data, archive_mode: mode, archive_command: command, advice },
    'postgres.not_archiving',
  );
}

/** Concurrent openers see each other as users, so none of them is the last one: they retry. */
const TRIES = { everyMs: 100, forMs: 5_000 };

/**
 * Acquires a share in a writable PostgreSQL. One left by a killed upgrade is read-only, and a release that can read its files would
 * continue with it. So it is restarted if it has no other users.
 */
async function holdWritable(home: Home): Promise<Hold> {
  const held = await waitUntil(() => tryHold(home), TRIES);
  if (held) return held;
  throw new EmbeddedFailure(
    'cannot_start',
    `A killed upgrade has left PostgreSQL of ${home.dataDir} running read-only, and other processes use it. Stop all of them, and start again`,
  );
}

async function tryHold(home: Home): Promise<Hold | undefined> {
  const hold = await acquireHold(home);
  if (!saysReadOnly(await commandOf(hold.file.pid))) return hold;
  try {
    await refuseUpgraded(home.dataDir);
    // The connection breaks if another process is stopping PostgreSQL.
    if (await hold.becomeLastUser().catch(() => false)) {
      const signal = await stopPostmaster(home, hold.file.pid);
      home.log.info({ signal, data_dir: home.data }, 'postgres.stopped_to_write');
    }
  } finally {
    await hold.close();
  }
  return undefined;
}
