import { settleHits as settle } from './settle-hits.ts';
import type { Job } from '../../../platform/jobs/scheduler.ts';

const EVERY_MS = 1_000;

/** Classifies opens and clicks as human or bot, some seconds after they happened. */
export function settleHits(deps: Parameters<typeof settle>[0]): Job {
  return {
    name: 'classify_hits',
    everyMs: EVERY_MS,
    async run(stopping) {
      let isMore = true;
      while (isMore && !stopping()) ({ isMore } = await settle(deps));
    },
  };
}
