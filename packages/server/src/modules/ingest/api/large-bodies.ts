import { setImmediate } from 'node:timers/promises';
import { createFairQueue } from '../../../platform/async/fair-queue.ts';

/** Lets the process answer others before the next step of a large body. */
export type EventLoopYield = () => Promise<void>;

/** Runs `work` when its turn begins: one large body at a time, and projects round-robin. */
export type LargeBodies = <T>(projectId: number, work: (pause: EventLoopYield) => Promise<T>) => Promise<T>;

/**
 * A body of 10 MiB keeps the thread for a fifth of a second, and many can be complete at the same time. Reading one at a time, in steps,
 * limits how long everything else waits to one step, and the parsed bodies in memory to one.
 */
export function createLargeBodies(): LargeBodies {
  // The budget for bodies limits how many wait.
  const queue = createFairQueue({ atOnce: 1 });
  return (projectId, work) =>
    queue.run(projectId, async () => {
      await pause();
      return work(pause);
    });
}

/** A new connection is accepted in one round of the event loop, read in the next, and answered in the one after. */
const PAUSE_ROUNDS = 3;

async function pause(): Promise<void> {
  for (let round = 0; round < PAUSE_ROUNDS; round += 1) await setImmediate();
}
