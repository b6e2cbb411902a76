import { boundLog } from './bound-log.ts';
import type { Hold } from './hold.ts';
import { type Home, logPath } from './home.ts';
import { readPidFile } from './postmaster.ts';
import { isAlive } from './process-command.ts';
import { sendSignal } from './stop-postmaster.ts';

const LOOK_EVERY_MS = 1_000;
const BOUND_LOG_EVERY_LOOKS = 60;
/** After a lone SIGTERM, PostgreSQL would wait forever for its last client. A SIGTERM for the whole service leaves this long to drain. */
const STOPPING_MAX_LOOKS = 10;

export type Watched = { hold: () => Hold; signal: AbortSignal; everyMs?: number };

/** The server's cheap check, for failures that the loss of the lock connection does not reveal immediately. */
export function watchPostmaster(home: Home, of: Watched): void {
  let looks = 0;
  let stoppingLooks = 0;
  const timer = setInterval(() => {
    looks += 1;
    if (looks % BOUND_LOG_EVERY_LOOKS === 0) {
      boundLog(logPath(home)).catch((error: unknown) =>
        home.log.warn({ err: error }, 'postgres.log_not_truncated'),
      );
    }
    const hold = of.hold();
    if (hold.isLost()) return;
    if (!isAlive(hold.file.pid)) return hold.drop('the postmaster is gone');
    stoppingLooks = readPidFile(home.data)?.status === 'stopping' ? stoppingLooks + 1 : 0;
    if (stoppingLooks === STOPPING_MAX_LOOKS) void sendSignal(home, { pid: hold.file.pid, signal: 'INT' });
  }, of.everyMs ?? LOOK_EVERY_MS);
  timer.unref();
  of.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}
