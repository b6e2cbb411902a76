import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Failpoint } from '../../../packages/server/src/platform/failpoints.ts';
import type { Fault, Role, Stage, Victim } from '../fault.ts';
import { pickRunning } from '../kills/pick-running.ts';
import { between, pick } from '../random.ts';
import { type CrashAction, printArmed } from './arm.ts';
import { armPath } from './serve-armed.ts';

/** The failpoints that a process in this role passes while it works. Imports and migrations are not part of a run. */
export const POINTS: Record<Role, Failpoint[]> = {
  api: [
    'ingest_started',
    'ingest_committing',
    'ingest_commit_sent',
    'ingest_committed',
    'ingest_responded',
    'stopping',
  ],
  worker: [
    'batch_claimed',
    'batch_applied',
    'batch_committing',
    'batch_committed',
    'timers_claimed',
    'timers_committing',
    'timers_committed',
    'send_claimed',
    'send_committing',
    'send_committed',
    'submit_committing',
    'submit_committed',
    'email_dot_sent',
    'email_reply_received',
    'result_rescheduled',
    'result_committing',
    'result_committed',
    'webhooks_recorded',
    'webhooks_claimed',
    'webhooks_committing',
    'webhooks_committed',
    'webhook_posted',
    'webhook_response_received',
    'hits_classified',
    'job_started',
    'stopping',
  ],
  'mail-in': ['outcome_committing', 'outcome_committed', 'stopping'],
};
const ACTIONS: CrashAction[] = ['kill', 'kill', 'throw', 'stall', 'drop'];
const PASSES_MAX = 20;
/** Some failpoints are passed only occasionally. */
const ARMED_MS = 6_000;
const POLL_MS = 50;

/** Arms one failpoint in a process and waits until the process passes it. */
export const CRASH: Fault = {
  code: 'F1',
  name: 'a process exits, fails or stalls at a failpoint',
  weight: 12,
  async run(stage, random) {
    const victim = pickRunning(stage.victims, random);
    if (!victim) return;
    const point = pick(POINTS[victim.role], random);
    const armed = { point, action: pick(ACTIONS, random), after: between(1, PASSES_MAX, random) };
    await victim.ready();
    const pid = victim.pid();
    if (pid === null) return;
    const path = armPath(stage.dir, pid);
    writeFileSync(path, printArmed(armed));
    victim.signal('SIGUSR2');
    if (point === 'stopping') victim.signal('SIGTERM');
    await waitForPass(stage, { victim, pid });
    rmSync(path, { force: true });
    if (victim.pid() === pid) victim.signal('SIGUSR2');
  },
};

/** Waits for the process to record the pass in a journal of its own. If it died there, it is restarted automatically. */
async function waitForPass(stage: Stage, { victim, pid }: { victim: Victim; pid: number }): Promise<void> {
  const journal = join(stage.dir, `armed-${pid}.jsonl`);
  const before = sizeOf(journal);
  const until = Date.now() + ARMED_MS;
  while (stage.isRunning() && Date.now() < until && victim.pid() === pid && sizeOf(journal) === before)
    await pause(POLL_MS);
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
