import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Fault, Stage } from '../fault.ts';
import { hold, note } from '../inject/hold.ts';
import { pickRunning } from '../kills/pick-running.ts';

/**
 * Stops a worker that has claimed emails until its lease expires, and continues it at the very moment when another worker has them. The
 * connection to the mail server is slow in that time, so that emails stay claimed long enough.
 */
export const STOLEN_CLAIMS: Fault = {
  code: 'S2',
  name: 'a worker continues after another one has claimed its emails',
  weight: 1,
  async run(stage, random) {
    const worker = pickRunning(
      stage.victims.filter(({ role }) => role === 'worker'),
      random,
    );
    const client = worker && (await stage.postgres.client().catch(() => null));
    if (!worker || !client) return;
    const pid = worker.pid();
    stage.wires.smtp.inject({ kind: 'delay', ms: DELAY_MS });
    try {
      await until(stage, CLAIM_TIMEOUT_MS, async () => (await claimedEmails(client)).length >= EMAILS_MIN);
      worker.signal('SIGSTOP');
      const emails = await claimedEmails(client);
      note(stage, { code: 'S2', detail: 'SIGSTOP', victim: worker.name, inFlight: emails.length });
      await expireLeases(client, emails);
      await until(stage, TAKEOVER_TIMEOUT_MS, async () => {
        await moveToFront(client, emails);
        return hasOtherOwner(client, emails);
      });
      if (worker.pid() === pid) worker.signal('SIGCONT');
      await hold(stage, WAIT_AFTER_MS);
    } finally {
      if (worker.pid() === pid) worker.signal('SIGCONT');
      stage.wires.smtp.restore();
      await client.end().catch(() => {});
    }
  },
};

const DELAY_MS = 800;
const EMAILS_MIN = 4;
const CLAIM_TIMEOUT_MS = 20_000;
const TAKEOVER_TIMEOUT_MS = 40_000;
const WAIT_AFTER_MS = 12_000;
const POLL_MS = 20;

async function until(stage: Stage, withinMs: number, condition: () => Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (stage.isRunning() && Date.now() < giveUpAt) {
    if (await condition()) return;
    await pause(POLL_MS);
  }
}

async function claimedEmails(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(`SELECT id FROM beckon.email WHERE state = 'claimed'`);
  return rows.map(({ id }) => id);
}

/** Ends the lease of one minute within which they had to be submitted. */
async function expireLeases(client: pg.Client, emails: string[]): Promise<void> {
  await client.query(
    `UPDATE beckon.email SET next_at = now() WHERE id = ANY ($1::uuid[]) AND state = 'claimed'`,
    [emails],
  );
}

/** Moves the emails to the front. A returned email goes to the end of the due ones, which is far behind on a slow connection. */
async function moveToFront(client: pg.Client, emails: string[]): Promise<void> {
  const { rows } = await client.query<{ project_id: string }>(
    `UPDATE beckon.draft d SET due_at = d.due_at - interval '1 hour' FROM beckon.email m
     WHERE m.id = ANY ($1::uuid[]) AND m.state = 'deferred' AND d.project_id = m.project_id AND d.id = m.draft_id
       AND d.state IN ('scheduled', 'approved', 'held') AND d.due_at > now() - interval '30 minutes' RETURNING d.project_id`,
    [emails],
  );
  if (rows.length === 0) return;
  await client.query(
    `UPDATE beckon.project_timer SET next_at = now() - interval '1 hour' WHERE work = 'send' AND project_id = ANY ($1::bigint[])`,
    [rows.map((row) => row.project_id)],
  );
}

async function hasOtherOwner(client: pg.Client, emails: string[]): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM beckon.email WHERE id = ANY ($1::uuid[]) AND epoch > 1 AND state IN ('claimed', 'submitting')`,
    [emails],
  );
  return rowCount !== 0;
}
