import { acquireHold } from './acquire-hold.ts';
import { EmbeddedFailure } from './failure.ts';
import type { Hold } from './hold.ts';
import type { Home } from './home.ts';
import { commandOf } from './process-command.ts';
import { stopPostmaster } from './stop-postmaster.ts';
import { refuseUpgraded } from './upgrade/lock-upgrade.ts';
import { saysReadOnly } from './upgrade/stop-left.ts';
import { waitUntil } from './wait-until.ts';

/** Concurrent openers see each other as users, so none of them is the last one: they retry. */
const TRIES = { everyMs: 100, forMs: 5_000 };

/**
 * Acquires a share in a writable PostgreSQL. One left by a killed upgrade is read-only, and a release that can read its files would
 * continue with it. So it is restarted if it has no other users.
 */
export async function holdWritable(home: Home): Promise<Hold> {
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
