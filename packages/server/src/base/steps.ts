/** Work in steps: it yields wherever it may wait while others are served. */
export type Steps<T> = Generator<void, T, void>;

/** Runs all steps without a pause. Returns a result that needed no steps as it is. */
export function runSteps<T extends object>(work: T | Steps<T>): T {
  if (!isSteps(work)) return work;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Runs all steps with a pause after each. */
export async function runStepsSlowly<T extends object>(
  work: T | Steps<T>,
  pause: () => Promise<void>,
): Promise<T> {
  if (!isSteps(work)) return work;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await pause();
  }
}

function isSteps<T extends object>(work: T | Steps<T>): work is Steps<T> {
  return Symbol.iterator in work;
}
