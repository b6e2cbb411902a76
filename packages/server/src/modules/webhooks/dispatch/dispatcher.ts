import { backoffMs } from '../../../platform/async/backoff.ts';
import { within } from '../../../platform/time/within.ts';
import { createDelivery, type Delivery, type DeliveryOptions } from './dispatch.ts';
import { createWakeUp } from '../../../platform/jobs/sleep.ts';

/** Sends webhook deliveries, round after round while some are due or have a response. */
export type WebhookDispatcher = {
  /** Starts a round after a delivery was queued, in this process or another. */
  wake(): void;
  /** Claims no more deliveries, waits for running requests up to a limit, and records all responses. */
  stop(): Promise<void>;
};

export type WebhookDispatcherOptions = Omit<DeliveryOptions, 'onAnswer'> & {
  onLag?: (facts: { queue: 'webhooks'; ms: number }) => void;
};

const POLL_EVERY_MS = 100;
/** The interval after a time without work. */
const POLL_EVERY_WHEN_QUIET_MS = 250;
const QUIET_AFTER_MS = 10_000;
/** A round costs about the same for one delivery as for twenty, so deliveries that arrive within this time share it. */
const COLLECT_MS = 15;
const SMALL_ROUND = 100;
const DRAIN_MS = 5_000;
const FAILURE_BACKOFF = { baseMs: 100, maxMs: 5_000 };
/** Responses are worth several tries, because an unrecorded delivery is sent again by another process. */
const LAST_ROUNDS_MAX = 5;

type State = {
  options: WebhookDispatcherOptions;
  delivery: Delivery;
  stopping: boolean;
  workedAt: number;
  failures: number;
};

export function startWebhookDispatcher(options: WebhookDispatcherOptions): WebhookDispatcher {
  const wakeUp = createWakeUp();
  const delivery = createDelivery({ ...options, onResult: () => wakeUp.wake() });
  const state: State = { options, delivery, stopping: false, workedAt: -Infinity, failures: 0 };

  async function run(): Promise<void> {
    while (!state.stopping) {
      const startedAt = performance.now();
      const count = await round(state);
      if (state.stopping) return;
      if (count > 0) state.workedAt = performance.now();
      if (count === 0) await wakeUp.wait(restMs(state));
      else if (count < SMALL_ROUND) await wakeUp.sleep(COLLECT_MS - (performance.now() - startedAt));
    }
  }
  const running = run();
  return {
    wake: () => wakeUp.wake(),
    async stop() {
      state.stopping = true;
      delivery.stop();
      wakeUp.wake();
      await running;
      await within(delivery.whenIdle(), DRAIN_MS).catch(() => delivery.abandon());
      for (let i = 0; i < LAST_ROUNDS_MAX && delivery.unrecordedCount() > 0; i += 1) await round(state);
    },
  };
}

function restMs({ failures, workedAt }: State): number {
  const isQuiet = performance.now() - workedAt > QUIET_AFTER_MS;
  const everyMs = isQuiet ? POLL_EVERY_WHEN_QUIET_MS : POLL_EVERY_MS;
  return failures === 0 ? everyMs : Math.max(everyMs, backoffMs(failures, FAILURE_BACKOFF));
}

/** Returns how much was done. */
async function round(state: State): Promise<number> {
  const { delivery, options } = state;
  try {
    const { recorded, claimed, lateMs } = await delivery.round();
    state.failures = 0;
    options.onLag?.({ queue: 'webhooks', ms: lateMs });
    return recorded + claimed;
  } catch (error) {
    state.failures += 1;
    options.log.warn({ err: error }, 'webhooks.failed');
    return 0;
  }
}
