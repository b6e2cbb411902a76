import { type Loop, runLoop } from '../../../platform/jobs/run-loop.ts';
import type { WorkWatch } from '../../../platform/jobs/work-watch.ts';
import { DUE_WORK } from '../../../platform/locks/store.ts';
import { within } from '../../../platform/time/within.ts';
import { createDelivery, type DeliveryOptions } from './dispatch.ts';

/** Sends webhook deliveries, round after round while some are due or have a response. */
export type WebhookDispatcher = {
  /** Starts a round after a delivery was queued, in this process or another. */
  wake(): void;
  /** Claims no more deliveries, waits for running requests up to a limit, and records all responses. */
  stop(): Promise<void>;
};

export type WebhookDispatcherOptions = Omit<DeliveryOptions, 'onAnswer'> & {
  watch?: WorkWatch;
  onLag?: (facts: { queue: 'webhooks'; ms: number }) => void;
};

/** Deliveries that arrive within this time share a round. */
const GATHER = { ms: 15, below: 100 };
const DRAIN_MS = 5_000;
/** Responses are worth several tries, because an unrecorded delivery is sent again by another process. */
const LAST_ROUNDS_MAX = 5;

export function startWebhookDispatcher(options: WebhookDispatcherOptions): WebhookDispatcher {
  const delivery = createDelivery({ ...options, onResult: () => loop.wake() });

  async function runRound(): Promise<number> {
    const { recorded, claimed, lateMs } = await delivery.round();
    options.onLag?.({ queue: 'webhooks', ms: lateMs });
    return recorded + claimed;
  }
  const onFailure = (error: unknown): void => options.log.warn({ err: error }, 'webhooks.failed');

  const watch = options.watch?.add(DUE_WORK.webhooks);
  const loop: Loop = runLoop({ work: runRound, gather: GATHER, watch, onFailure });
  return {
    wake: () => loop.wake(),
    async stop() {
      delivery.stop();
      await loop.stop();
      await within(delivery.whenIdle(), DRAIN_MS).catch(() => delivery.abandon());
      for (let i = 0; i < LAST_ROUNDS_MAX && delivery.unrecordedCount() > 0; i += 1)
        await runRound().catch(onFailure);
    },
  };
}
