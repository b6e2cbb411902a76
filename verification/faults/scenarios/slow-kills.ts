import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, Stage, Victim } from '../fault.ts';
import { hold, inFlight, note } from '../inject/hold.ts';
import { pickRunning } from '../kills/pick-running.ts';
import { between, type Random } from '../random.ts';

/**
 * Kills processes while every message to and from the database is slow. It kills one of them at random times, or all of them as soon as a
 * new outcome appears. A single commit cannot be torn by that. Two commits that should be one are open for so long that they are.
 */
export const SLOW_KILLS: Fault = {
  code: 'S3',
  name: 'kill -9 far from the database',
  weight: 4,
  async run(stage, random) {
    stage.wires.database.inject({ kind: 'delay', ms: between(SLOW.minMs, SLOW.maxMs, random) });
    try {
      await (random() < 0.5 ? killOne(stage, random) : killAll(stage));
    } finally {
      stage.wires.database.restore();
    }
  },
};

const SLOW = { minMs: 40, maxMs: 250 };
const BEFORE = { minMs: 500, maxMs: 3_000 };

async function killOne(stage: Stage, random: Random): Promise<void> {
  await hold(stage, between(BEFORE.minMs, BEFORE.maxMs, random));
  const victim = pickRunning(
    stage.victims.filter(({ role }) => role !== 'mail-in'),
    random,
  );
  if (!victim) return;
  victim.signal('SIGSTOP');
  const count = await victim.inFlight();
  victim.signal('SIGKILL');
  note(stage, { code: 'S3', detail: 'SIGKILL over a slow wire', victim: victim.name, inFlight: count });
}

const OUTCOME_TIMEOUT_MS = 15_000;
const POLL_MS = 20;

/** Kills all, because the process that committed is not known from outside. */
async function killAll(stage: Stage): Promise<void> {
  const client = await stage.postgres.client().catch(() => null);
  if (!client) return;
  const count = async (): Promise<number> => {
    const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM beckon.outcome');
    return rows[0]?.n ?? 0;
  };
  try {
    const giveUpAt = Date.now() + OUTCOME_TIMEOUT_MS;
    const before = await count();
    while (stage.isRunning() && Date.now() < giveUpAt && (await count()) === before) await pause(POLL_MS);
    const running: Victim[] = stage.victims.filter((victim) => victim.pid() !== null);
    for (const victim of running) victim.signal('SIGKILL');
    note(stage, {
      code: 'S3',
      detail: 'SIGKILL when an outcome appears',
      victim: running.map(({ name }) => name).join(', '),
      inFlight: await inFlight(stage),
    });
  } finally {
    await client.end().catch(() => {});
  }
}
