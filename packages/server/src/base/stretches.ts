import { setImmediate } from 'node:timers/promises';

/**
 * Long work in memory that stops now and then, as a generator does at each `yield`: at once for who has nothing else to do, or
 * with a rest at each stop, for a process in which others wait.
 */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

export async function withRests<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}
