import type { Log } from '../../platform/log.ts';
import { listDueProjects } from '../../platform/locks/timers.ts';
import type { DueDraftSender } from './send-email.ts';
import type { Database } from '../../platform/db/database.ts';
import { type LoopRound, runLoop } from '../../platform/jobs/run-loop.ts';
import { createFailureBackoff, type FailureBackoff } from '../../platform/jobs/failure-backoff.ts';
import type { WorkWatch } from '../../platform/jobs/work-watch.ts';
import { DUE_WORK } from '../../platform/locks/store.ts';
import { atMost } from '../../platform/time/within.ts';

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
  watch?: WorkWatch;
  onLag?: (facts: { queue: 'send'; ms: number }) => void;
};

const PROJECTS_MAX = 1_000;
const STOP_WITHIN_MS = 5_000;
const GIVE_UP_EVERY_MS = 10_000;
const ASK_EVERY_MS = 5_000;

type State = DraftSenderOptions & {
  backoff: FailureBackoff;
  gaveUpAt: number;
  /** When relays were last asked about unknown deliveries; Infinity while they are. */
  askedAt: number;
  /** Emails that are being submitted. */
  submissions: Set<Promise<void>>;
};

export function startSender(options: DraftSenderOptions): DraftSender {
  const state: State = {
    ...options,
    backoff: createFailureBackoff(),
    gaveUpAt: -Infinity,
    askedAt: -Infinity,
    submissions: new Set(),
  };
  const loop = runLoop({
    work: (round) => sendDue(state, round),
    watch: options.watch?.add(DUE_WORK.send),
    onFailure: (error) => options.log.warn({ err: error }, 'send.failed'),
  });
  return {
    async stop() {
      const stopped = loop.stop();
      options.sender.stop();
      await stopped;
      await atMost(Promise.all(state.submissions), STOP_WITHIN_MS);
    },
    async settled() {
      await Promise.all(state.submissions);
    },
  };
}

/** Returns how many drafts were handled. It is 0 if none is due, or if other workers have locked all that are due. */
async function sendDue(state: State, round: LoopRound): Promise<number> {
  const { db, onLag, backoff, sender } = state;
  const now = db.clock.now();
  await giveUp(state);
  askAgain(state);
  // Drafts that cannot be submitted now are not claimed, so that they stay visible in the queue.
  if ((await sender.closedUntil()) !== null) return 0;
  const projects = await listDueProjects(db, { work: 'send', now: new Date(now), limit: PROJECTS_MAX });
  onLag?.({ queue: 'send', ms: now - (projects[0]?.nextAt.getTime() ?? now) });
  if (projects.length > 0 && !(await sender.maySend())) return 0;
  let count = 0;
  for (const { projectId } of projects) {
    if (round.stopping.aborted) break;
    await waitForCapacity(state, round);
    const isDue = backoff.isOpen(projectId, now) && sender.mayClaim(projectId);
    if (!round.stopping.aborted && isDue) count += await batch(state, projectId);
  }
  return count;
}

/** Waits for a free slot. Emails are submitted while others are claimed. */
async function waitForCapacity({ sender, submissions }: State, round: LoopRound): Promise<void> {
  while (!round.stopping.aborted && sender.capacity() === 0 && submissions.size > 0)
    await round.waitFor(Promise.race(submissions));
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

/** Asks in the background, because answers may take as long as those to emails. */
function askAgain(state: State): void {
  if (performance.now() - state.askedAt < ASK_EVERY_MS) return;
  state.askedAt = Infinity;
  const asking = state.sender
    .askAgain()
    .then(
      (asked) => asked > 0 && state.log.info({ emails: asked }, 'relay.asked_again'),
      (error: unknown) => state.log.warn({ err: error }, 'relay.not_asked'),
    )
    .then(() => {
      state.askedAt = performance.now();
      state.submissions.delete(asking);
    });
  state.submissions.add(asking);
}

async function giveUp(state: State): Promise<void> {
  if (performance.now() - state.gaveUpAt < GIVE_UP_EVERY_MS) return;
  state.gaveUpAt = performance.now();
  const lost = await state.sender.giveUp();
  if (lost > 0) state.log.warn({ emails: lost }, 'emails.lease_expired');
}
