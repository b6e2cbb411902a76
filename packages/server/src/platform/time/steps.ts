import { setImmediate } from 'node:timers/promises';

/** Work in steps: it yields wherever it may pause for others. */
export type Steps<T> = Generator<void, T, void>;

/** Runs all steps without a pause. Returns a result that needed no steps unchanged. */
export function runSteps<T>(work: T | Steps<T>): T {
  if (!isSteps(work)) return work;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Runs all steps, with one round of the event loop after each, for a process with concurrent work. */
export async function runStepsSlowly<T>(work: T | Steps<T>): Promise<T> {
  if (!isSteps(work)) return work;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function isSteps<T>(work: T | Steps<T>): work is Steps<T> {
  return typeof work === 'object' && work !== null && 'next' in work;
}
