import { listMarked, pruneMarks as pruneOf } from './prune-marks.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Job } from '../../platform/jobs/scheduler.ts';

const EVERY_MS = 30_000;

/** Deletes erasures and write sequences as soon as no record waits that they were created for. */
export function pruneMarks(db: Pick<Database, 'query' | 'prepared' | 'transaction'>): Job {
  return {
    name: 'delete_processing_marks',
    everyMs: EVERY_MS,
    async run(stopping) {
      for (const projectId of await listMarked(db)) {
        while (!stopping() && (await pruneOf(db, projectId)));
      }
    },
  };
}
