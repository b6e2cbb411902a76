import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, Stage } from '../fault.ts';
import { note } from '../inject/hold.ts';
import { pickRunning } from './pick-running.ts';

/** Longer than the timeout of an idle transaction, and than the lease of a project lock. */
const STOPPED_MS = { min: 11_000, spread: 4_000 };

/**
 * Stops a worker for longer than any lease lasts, then continues it. Its work goes to the other worker in that time: the leases of emails
 * and webhooks, which last minutes, are ended in the database.
 */
export const ZOMBIE: Fault = {
  code: 'F5',
  name: 'a worker is stopped beyond its lease',
  weight: 6,
  async run(stage, random) {
    const victim = pickRunning(
      stage.victims.filter(({ role }) => role === 'worker'),
      random,
    );
    if (!victim) return;
    const pid = victim.pid();
    victim.signal('SIGSTOP');
    note(stage, {
      code: 'F5',
      detail: 'SIGSTOP',
      victim: victim.name,
      inFlight: await victim.inFlight(),
    });
    try {
      await endLeases(stage);
      await pause(STOPPED_MS.min + random() * STOPPED_MS.spread);
    } finally {
      if (victim.pid() === pid) victim.signal('SIGCONT');
    }
  },
};

async function endLeases({ postgres }: Stage): Promise<void> {
  const client = await postgres.client().catch(() => null);
  if (!client) return;
  try {
    await client.query(`UPDATE beckon.email SET next_at = now() WHERE next_at > now()`);
    await client.query(
      `UPDATE beckon.webhook_delivery SET next_at = now() WHERE state = 'delivering' AND next_at > now()`,
    );
    await client.query(
      `UPDATE beckon.project_timer SET next_at = now() WHERE work IN ('send', 'webhooks') AND next_at > now()`,
    );
  } finally {
    await client.end();
  }
}
