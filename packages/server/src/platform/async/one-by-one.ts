import type { JobRun } from '../jobs/scheduler.ts';
import type { Log, LogFields } from '../log.ts';

export type SequentialOptions<Item> = {
  log: Log;
  run: JobRun;
  /** Fields of the log line of an item that failed. */
  fieldsOf: (item: Item) => LogFields;
};

/**
 * Processes the items of a background job one after another. A failed item is logged with its ids, and the job continues with the next
 * item. At the end the job fails as a whole, so that failed jobs are counted.
 */
export async function forEachInOrder<Item>(
  items: Item[],
  { log, run: { name: job, stopping }, fieldsOf }: SequentialOptions<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let failed = 0;
  for (const item of items) {
    if (stopping.aborted) return;
    try {
      await work(item);
    } catch (error) {
      failed += 1;
      log.warn({ ...fieldsOf(item), job, err: error }, 'job.partly_failed');
    }
  }
  if (failed > 0) throw new Error(`${job} failed for ${failed} of ${items.length}`);
}
