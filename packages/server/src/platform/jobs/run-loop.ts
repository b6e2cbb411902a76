import { backoffMs } from '../async/backoff.ts';
import type { WatchedWork } from './work-watch.ts';

/** Background work without an end, such as sending the drafts that are due. */
export type Loop = {
  /** Begins the next round now, or directly after the current one. Progress never depends on it, because the loop polls. */
  wake: () => void;
  /** Begins no more rounds and ends all pauses. Resolves when the current round has ended. */
  stop: () => Promise<void>;
};

export type LoopOptions = {
  /** Does one round of work. Returns how much was done: 0 if nothing is due, or if other workers hold the locks of all that is. */
  work: (round: LoopRound) => Promise<number>;
  /** The pause after a round without work. A wake-up ends it. */
  poll?: { everyMs: number };
  /** Wakes the loop while it is quiet. Without it, the loop polls as often as ever. */
  watch?: WatchedWork | undefined;
  /** A small round costs almost as much as a large one, so after fewer than `below` items the next begins no sooner than `ms` later. */
  gather?: { ms: number; below: number };
  /** The pause after a failed round, if it is longer than that of `poll`. It grows with each failure in a row. */
  backoff?: { baseMs: number; maxMs: number };
  onFailure: (error: unknown) => void;
};

/** A round gets the signal that stops it, and pauses that the stop ends. */
export type LoopRound = {
  stopping: AbortSignal;
  sleep: (ms: number) => Promise<void>;
  /** Waits for a promise to be settled in any way. */
  waitFor: (settled: Promise<unknown>) => Promise<void>;
};

const POLL = { everyMs: 100 };
/**
 * After this time without work, a loop follows its watch. Work that is due at once and wakes no loop then waits for a quarter of a second.
 * After half a minute without work, it waits for a second. The loop still polls now and then, for the little that it does without due work.
 */
const QUIET_AFTER_MS = 10_000;
const QUIET_POLL_MS = 10_000;
const QUIET_LOOK_MS = 250;
const IDLE_AFTER_MS = 30_000;
const IDLE_LOOK_MS = 1_000;
const NO_GATHERING = { ms: 0, below: 0 };
export const FAILURE_BACKOFF = { baseMs: 100, maxMs: 5_000 };

/** Does round after round while there is work, and then polls for more. A failed round ends nothing. */
export function runLoop({
  work,
  poll = POLL,
  watch,
  gather = NO_GATHERING,
  backoff = FAILURE_BACKOFF,
  onFailure,
}: LoopOptions): Loop {
  const pauses = createPauses();
  const stop = new AbortController();
  const round: LoopRound = { stopping: stop.signal, sleep: pauses.sleep, waitFor: pauses.waitFor };
  let failures = 0;
  let workedAt = performance.now();

  async function runRound(): Promise<number> {
    try {
      const count = await work(round);
      failures = 0;
      return count;
    } catch (error) {
      failures += 1;
      onFailure(error);
      return 0;
    }
  }

  async function rest(): Promise<void> {
    const { everyMs } = poll;
    if (failures > 0) return pauses.untilWoken(Math.max(everyMs, backoffMs(failures, backoff)));
    const quietMs = performance.now() - workedAt;
    if (!watch || quietMs <= QUIET_AFTER_MS) return pauses.untilWoken(everyMs);
    const unfollow = watch.follow(pauses.wake, quietMs > IDLE_AFTER_MS ? IDLE_LOOK_MS : QUIET_LOOK_MS);
    await pauses.untilWoken(QUIET_POLL_MS);
    unfollow();
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const startedAt = performance.now();
      const count = await runRound();
      if (count > 0) workedAt = performance.now();
      if (count === 0) await rest();
      else if (count < gather.below) await pauses.sleep(gather.ms - (performance.now() - startedAt));
    }
  }

  const running = run();
  return {
    wake: pauses.wake,
    async stop() {
      stop.abort();
      pauses.end();
      await running;
    },
  };
}

type Pauses = Pick<LoopRound, 'sleep' | 'waitFor'> & {
  /** Waits for a wake-up, at most for `ms`. A wake-up from before the wait counts. */
  untilWoken: (ms: number) => Promise<void>;
  wake: () => void;
  /** Ends all pauses, from now on. */
  end: () => void;
};

/**
 * Each pause removes itself when it ends. A race against a promise that is settled only at the very end would leak memory for each pause
 * until then, ten per second.
 */
function createPauses(): Pauses {
  const current = new Set<() => void>();
  let isOver = false;
  let isWoken = false;
  let wakeWaiter = (): void => {};

  function pause(begin: (end: () => void) => void): Promise<void> {
    if (isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        current.delete(end);
        resolve();
      };
      current.add(end);
      begin(end);
    });
  }

  async function pauseFor(ms: number, onBegin: (end: () => void) => void = () => {}): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await pause((end) => {
      timer = setTimeout(end, ms);
      onBegin(end);
    });
    clearTimeout(timer);
  }

  return {
    sleep: (ms) => (ms > 0 ? pauseFor(ms) : Promise.resolve()),
    waitFor: (settled) => pause((end) => void settled.then(end, end)),
    async untilWoken(ms) {
      if (!isWoken)
        await pauseFor(ms, (end) => {
          wakeWaiter = end;
        });
      isWoken = false;
    },
    wake() {
      isWoken = true;
      wakeWaiter();
    },
    end() {
      isOver = true;
      for (const end of current) end();
    },
  };
}
