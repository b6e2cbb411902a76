import type { Log } from '../../platform/log.ts';
import { listDueProjects } from '../../platform/locks/timers.ts';
import type { DueDraftSender } from './send-due-drafts.ts';
import type { Database } from '../../platform/db/database.ts';
import { createInterruptibleSleep, type InterruptibleSleep } from '../../platform/jobs/sleep.ts';
import { createFailureBackoff, type FailureBackoff } from '../../platform/jobs/failure-backoff.ts';

/** Sends due drafts, one batch per project in turn, so that a long queue of one project does not delay others. */
export type DraftSender = {
  /** Claims no more drafts and waits for running submissions, up to a limit. */
  stop(): Promise<void>;
  /** Waits until the results of all submissions are recorded. */
  settled(): Promise<void>;
};

export type DraftSenderOptions = {
  db: Database;
  sender: DueDraftSender;
  log: Log;
  onLag?: (facts: { queue: 'send'; ms: number }) => void;
};

const POLL_MS = 100;
/** The interval after a time without due drafts. Deadlines are still met to the second. */
const QUIET_POLL_MS = 250;
const QUIET_AFTER_MS = 10_000;
const PROJECTS_MAX = 1_000;
const STOP_WITHIN_MS = 5_000;
const GIVE_UP_EVERY_MS = 10_000;

type State = DraftSenderOptions & {
  pause: InterruptibleSleep;
  backoff: FailureBackoff;
  stopping: boolean;
  workedAt: number;
  gaveUpAt: number;
  /** Emails that are being submitted. */
  submissions: Set<Promise<void>>;
};

export function startSender(options: DraftSenderOptions): DraftSender {
  const pause = createInterruptibleSleep();
  const state: State = {
    ...options,
    pause,
    backoff: createFailureBackoff(),
    stopping: false,
    workedAt: -Infinity,
    gaveUpAt: -Infinity,
    submissions: new Set(),
  };
  async function run(): Promise<void> {
    while (!state.stopping) {
      const count = await round(state);
      if (count > 0) state.workedAt = performance.now();
      else await pause.sleep(restMs(state));
    }
  }
  const running = run();
  return {
    async stop() {
      state.stopping = true;
      pause.end();
      options.sender.stop();
      await running;
      const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_WITHIN_MS).unref());
      await Promise.race([Promise.all(state.submissions), late]);
    },
    async settled() {
      await Promise.all(state.submissions);
    },
  };
}

function restMs({ workedAt }: State): number {
  return performance.now() - workedAt > QUIET_AFTER_MS ? QUIET_POLL_MS : POLL_MS;
}

/** Returns how many drafts were handled. It is 0 if none is due, or if other workers have locked all that are due. */
async function round(state: State): Promise<number> {
  const { db, log, onLag, backoff, sender } = state;
  try {
    const now = db.clock.now();
    await giveUp(state);
    // Drafts that cannot be submitted now are not claimed, so that they stay visible in the queue.
    if (sender.closedUntil() !== null) return 0;
    const projects = await listDueProjects(db, { work: 'send', now: new Date(now), limit: PROJECTS_MAX });
    onLag?.({ queue: 'send', ms: now - (projects[0]?.nextAt.getTime() ?? now) });
    if (projects.length > 0 && !(await sender.maySend())) return 0;
    let count = 0;
    for (const { projectId } of projects) {
      if (state.stopping) break;
      await waitForCapacity(state);
      if (!state.stopping && backoff.isOpen(projectId, now)) count += await batch(state, projectId);
    }
    return count;
  } catch (error) {
    log.warn({ err: error }, 'send.failed');
    return 0;
  }
}

/** Waits for a free slot. Emails are submitted while others are claimed. */
async function waitForCapacity(state: State): Promise<void> {
  const { sender, submissions, pause } = state;
  while (!state.stopping && sender.capacity() === 0 && submissions.size > 0)
    await pause.waitFor(Promise.race(submissions));
}

/** Sends a batch of a project. A failing project is paused for a while and does not affect the others. */
async function batch({ db, sender, log, backoff, submissions }: State, projectId: number): Promise<number> {
  try {
    const { drafts, completion } = await sender.begin(projectId);
    submissions.add(completion);
    void completion.finally(() => submissions.delete(completion));
    backoff.recordSuccess([projectId]);
    return drafts;
  } catch (error) {
    const retryInMs = backoff.recordFailure([projectId], db.clock.now());
    log.warn({ project_id: projectId, retry_in_ms: retryInMs, err: error }, 'send.failed');
    return 0;
  }
}

async function giveUp(state: State): Promise<void> {
  if (performance.now() - state.gaveUpAt < GIVE_UP_EVERY_MS) return;
  state.gaveUpAt = performance.now();
  const lost = await state.sender.giveUp();
  if (lost > 0) state.log.warn({ emails: lost }, 'emails.lease_expired');
}
