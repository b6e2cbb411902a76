import { backoffMs } from '../base/backoff.ts';
import { within } from '../base/within.ts';
import { createDelivery, type Delivery, type DeliveryOptions } from '../flows/deliver-webhooks/index.ts';
import { createBell } from './bell.ts';

/** Keeps telling what became of letters: round after round as long as something is due or was answered. */
export type Teller = {
  /** Something was just queued, here or in another process. */
  wake(): void;
  /** Claims nothing more, waits for answers that are on their way, but not for ever, and records all of them. */
  stop(): Promise<void>;
};

export type TellerOptions = Omit<DeliveryOptions, 'onAnswer'> & {
  onLag?: (facts: { queue: 'webhooks'; ms: number }) => void;
};

const LOOK_EVERY_MS = 100;
/** Where nothing came for a while. */
const LOOK_EVERY_WHEN_QUIET_MS = 250;
const QUIET_AFTER_MS = 10_000;
/** A round costs about the same for one delivery as for twenty: those that come within this time share it. */
const GATHER_MS = 15;
const SMALL_ROUND = 100;
const ON_THEIR_WAY_MS = 5_000;
const TROUBLE_BACKOFF = { baseMs: 100, maxMs: 5_000 };
/** What was answered is worth several tries: what is not recorded is sent again by somebody else. */
const LAST_ROUNDS_MAX = 5;

type State = {
  options: TellerOptions;
  delivery: Delivery;
  stopping: boolean;
  workedAt: number;
  failures: number;
};

export function startTeller(options: TellerOptions): Teller {
  const bell = createBell();
  const delivery = createDelivery({ ...options, onAnswer: () => bell.ring() });
  const state: State = { options, delivery, stopping: false, workedAt: -Infinity, failures: 0 };

  async function run(): Promise<void> {
    while (!state.stopping) {
      const startedAt = performance.now();
      const done = await round(state);
      if (state.stopping) return;
      if (done > 0) state.workedAt = performance.now();
      if (done === 0) await bell.wait(restMs(state));
      else if (done < SMALL_ROUND) await bell.rest(GATHER_MS - (performance.now() - startedAt));
    }
  }
  const running = run();
  return {
    wake: () => bell.ring(),
    async stop() {
      state.stopping = true;
      delivery.stop();
      bell.ring();
      await running;
      await within(delivery.answered(), ON_THEIR_WAY_MS).catch(() => delivery.abandon());
      for (let i = 0; i < LAST_ROUNDS_MAX && delivery.underWay() > 0; i += 1) await round(state);
    },
  };
}

function restMs({ failures, workedAt }: State): number {
  const isQuiet = performance.now() - workedAt > QUIET_AFTER_MS;
  const everyMs = isQuiet ? LOOK_EVERY_WHEN_QUIET_MS : LOOK_EVERY_MS;
  return failures === 0 ? everyMs : Math.max(everyMs, backoffMs(failures, TROUBLE_BACKOFF));
}

/** How much was done. */
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
