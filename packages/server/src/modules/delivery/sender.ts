import type { Log } from '../../platform/log.ts';
import { duePlaces } from '../../platform/locks/timers.ts';
import type { DueDraftSender } from './send-due-drafts.ts';
import type { Database } from '../../platform/db/database.ts';
import { createPause, type InterruptibleSleep } from '../../platform/jobs/sleep.ts';
import { createTroubles, type Troubles } from '../../platform/jobs/failure-backoff.ts';

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

const LOOK_EVERY_MS = 100;
/** The interval after a time without due drafts. Deadlines are still met to the second. */
const LOOK_EVERY_WHEN_QUIET_MS = 250;
const QUIET_AFTER_MS = 10_000;
const PLACES_MAX = 1_000;
const ON_THEIR_WAY_MS = 5_000;
const GIVE_UP_EVERY_MS = 10_000;

type State = DraftSenderOptions & {
  pause: InterruptibleSleep;
  troubles: Troubles;
  stopping: boolean;
  workedAt: number;
  gaveUpAt: number;
  /** Emails that are being submitted. */
  underWay: Set<Promise<void>>;
};

export function startSender(options: DraftSenderOptions): DraftSender {
  const pause = createPause();
  const state: State = {
    ...options,
    pause,
    troubles: createTroubles(),
    stopping: false,
    workedAt: -Infinity,
    gaveUpAt: -Infinity,
    underWay: new Set(),
  };
  async function run(): Promise<void> {
    while (!state.stopping) {
      const done = await round(state);
      if (done > 0) state.workedAt = performance.now();
      else await pause.of(restMs(state));
    }
  }
  const running = run();
  return {
    async stop() {
      state.stopping = true;
      pause.end();
      options.sender.stop();
      await running;
      const late = new Promise<void>((resolve) => setTimeout(resolve, ON_THEIR_WAY_MS).unref());
      await Promise.race([Promise.all(state.underWay), late]);
    },
    async settled() {
      await Promise.all(state.underWay);
    },
  };
}

function restMs({ workedAt }: State): number {
  return performance.now() - workedAt > QUIET_AFTER_MS ? LOOK_EVERY_WHEN_QUIET_MS : LOOK_EVERY_MS;
}

/** Returns how many drafts were handled. It is 0 if none is due, or if other workers have locked all that are due. */
async function round(state: State): Promise<number> {
  const { db, log, onLag, troubles, sender } = state;
  try {
    const now = db.clock.now();
    await giveUp(state);
    // Drafts that cannot be submitted now are not claimed, so that they stay visible in the queue.
    if (sender.closedUntil() !== null) return 0;
    const places = await duePlaces(db, { work: 'send', now: new Date(now), limit: PLACES_MAX });
    onLag?.({ queue: 'send', ms: now - (places[0]?.nextAt.getTime() ?? now) });
    if (places.length > 0 && !(await sender.mayLeave())) return 0;
    let done = 0;
    for (const { projectId } of places) {
      if (state.stopping) break;
      await room(state);
      if (!state.stopping && troubles.isOpen(projectId, now)) done += await batch(state, projectId);
    }
    return done;
  } catch (error) {
    log.warn({ err: error }, 'send.failed');
    return 0;
  }
}

/** Waits for a free slot. Emails are submitted while others are claimed. */
async function room(state: State): Promise<void> {
  const { sender, underWay, pause } = state;
  while (!state.stopping && sender.room() === 0 && underWay.size > 0)
    await pause.until(Promise.race(underWay));
}

/** Sends a batch of a project. A failing project is paused for a while and does not affect the others. */
async function batch({ db, sender, log, troubles, underWay }: State, projectId: number): Promise<number> {
  try {
    const { drafts, handed } = await sender.begin(projectId);
    underWay.add(handed);
    void handed.finally(() => underWay.delete(handed));
    troubles.passed([projectId]);
    return drafts;
  } catch (error) {
    const retryInMs = troubles.failed([projectId], db.clock.now());
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
