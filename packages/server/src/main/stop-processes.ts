import type { Kept } from './keep-process.ts';

/**
 * Of the ten seconds that a stop has. Who answers requests cuts them off after six. Who works waits five for what is under way,
 * two more for the relay, and then writes down what became of it: killed before, its letters would be `unknown` for good.
 */
const ANSWERED_WITHIN_MS = 7_000;
const DONE_WITHIN_MS = 9_000;

/** All are told at once: were the one kind to wait for the other, it would have to do with what time that one left it. */
export async function stopProcesses(kept: readonly Kept[]): Promise<void> {
  for (const one of kept) one.letEnd();
  await Promise.all(kept.map((one) => one.stop(isWorker(one) ? DONE_WITHIN_MS : ANSWERED_WITHIN_MS)));
}

function isWorker({ part }: Kept): boolean {
  return part.role === 'worker';
}
