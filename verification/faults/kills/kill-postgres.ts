import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, Stage } from '../fault.ts';
import { note } from '../inject/hold.ts';

const DOWNTIME_MAX_MS = 2_000;
const POLL_MS = 50;
const RECOVERY_TIMEOUT_MS = 60_000;

/** Kills all of PostgreSQL with SIGKILL, or stops it immediately, under load. It is restarted a moment later. */
export const KILL_POSTGRES: Fault = {
  code: 'F3',
  name: 'PostgreSQL dies',
  weight: 8,
  async run(stage, random) {
    const { postgres, victims } = stage;
    const counts = await Promise.all(victims.map((victim) => victim.inFlight()));
    const inFlight = counts.reduce((sum, count) => sum + count, 0);
    const isKill = random() < 0.5;
    note(stage, {
      code: 'F3',
      detail: isKill ? 'SIGKILL' : 'immediate stop',
      victim: 'postgres',
      inFlight,
    });
    try {
      await (isKill ? postgres.killTree() : postgres.stopImmediately());
      await pause(random() * DOWNTIME_MAX_MS);
    } finally {
      await postgres.start();
    }
    const startedAt = Date.now();
    if (await acceptsRequests(stage))
      stage.journal.write({
        kind: 'recovered',
        at: Date.now(),
        code: 'F3',
        afterMs: Date.now() - startedAt,
      });
  },
};

/** Waits until an API process reports that it is ready again. */
async function acceptsRequests({ victims }: Pick<Stage, 'victims'>): Promise<boolean> {
  const giveUpAt = Date.now() + RECOVERY_TIMEOUT_MS;
  while (Date.now() < giveUpAt) {
    for (const { url } of victims) {
      if (url === null) continue;
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
      if (response?.ok) return true;
    }
    await pause(POLL_MS);
  }
  return false;
}
