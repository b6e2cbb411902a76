import type { Log } from './log.ts';

export type OneByOne = { log: Log; job: string; stopping: () => boolean };

/**
 * What fails of one (of a project, say) is warned of with its ids, and does not keep those behind it from their turn. Behind all of
 * them it fails as a whole, so that whoever counts duties that fail hears of it.
 */
export async function oneByOne<Ids extends object>(
  items: Ids[],
  { log, job, stopping }: OneByOne,
  work: (item: Ids) => Promise<void>,
): Promise<void> {
  let failed = 0;
  for (const item of items) {
    if (stopping()) return;
    try {
      await work(item);
    } catch (error) {
      failed += 1;
      log.warn({ ...item, job, err: error }, 'job.failed_for_project');
    }
  }
  if (failed > 0) throw new Error(`${job} failed for ${failed} of ${items.length}`);
}
