import type { Kept } from './keep-process.ts';

/**
 * The limits within the ten seconds of a stop. An API process cuts off requests after six. A worker waits five for work under way and two
 * more for the relay, then records the outcomes. If it were killed before that, its emails would be `unknown` for good.
 */
const ANSWERED_WITHIN_MS = 7_000;
const DONE_WITHIN_MS = 9_000;

/** All processes stop at the same time: if one kind waited for the other, it would have only the remaining time. */
export async function stopProcesses(kept: readonly Kept[]): Promise<void> {
  for (const one of kept) one.letEnd();
  await Promise.all(kept.map((one) => one.stop(isWorker(one) ? DONE_WITHIN_MS : ANSWERED_WITHIN_MS)));
}

function isWorker({ part }: Kept): boolean {
  return part.role === 'worker';
}
