import type { Log } from '../log.ts';
import type { Tx } from './statements.ts';

/** Notifies a channel, at most once per interval regardless of the number of calls. A lost notification does no harm. */
export type Notifier = { shout(): void; stop(): Promise<void> };

export type NotifierOptions = { db: Tx; channel: string; everyMs: number; log: Log };

export function createNotifier({ db, channel, everyMs, log }: NotifierOptions): Notifier {
  let timer: NodeJS.Timeout | null = null;
  let wanted = false;
  let stopped = false;
  let under: Promise<void> = Promise.resolve();

  async function send(): Promise<void> {
    try {
      await db.query(`SELECT pg_notify($1, '')`, [channel]);
    } catch (error) {
      log.debug({ err: error }, 'database.notify_failed');
    }
  }

  function shout(): void {
    if (stopped) return;
    if (timer !== null) {
      wanted = true;
      return;
    }
    wanted = false;
    under = send();
    timer = setTimeout(() => {
      timer = null;
      if (wanted) shout();
    }, everyMs);
    timer.unref();
  }

  return {
    shout,
    async stop() {
      stopped = true;
      clearTimeout(timer ?? undefined);
      await under;
    },
  };
}
