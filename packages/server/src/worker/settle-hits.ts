import { settleHits as settle } from '../flows/track/index.ts';
import type { Job } from './timetable.ts';

const EVERY_MS = 1_000;

/** What was opened and followed is told apart by people and machines, some seconds after it happened. */
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
