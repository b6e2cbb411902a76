import type { Log } from './log.ts';

export type OneByOne = { log: Log; duty: string; stopping: () => boolean };

/** What fails of one (of a project, say) is warned of with its ids, and does not keep those behind it from their turn. */
export async function oneByOne<Ids extends object>(
  items: Ids[],
  { log, duty, stopping }: OneByOne,
  work: (item: Ids) => Promise<void>,
): Promise<void> {
  for (const item of items) {
    if (stopping()) return;
    try {
      await work(item);
    } catch (error) {
      log.warn({ ...item, duty, err: error }, 'duty.failed_of_one');
    }
  }
}
