import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/db/database.ts';
import { forgetIdempotencyKeys } from '../modules/ingest/idempotency/forget-answers-job.ts';
import { forgetDecisionsJob } from '../modules/rules/decisions/forget-decisions-job.ts';
import { deleteRetiredVersions } from '../modules/audiences/delete-retired-job.ts';
import { forgetHistory } from '../modules/operations/retention/forget-history-job.ts';
import { forgetImports } from '../modules/imports/run/forget-imports-job.ts';
import { clearTestInbox } from '../modules/sending/test-inbox/clear-test-inbox-job.ts';
import { keepPartitions } from '../modules/users/events/partitions-job.ts';
import { pruneMarks, sweepTimersJob } from '../modules/processing/jobs.ts';
import type { Job } from '../platform/jobs/scheduler.ts';

/** Returns the jobs that maintain the database, in any process. Two processes can run the same job without harm. */
export function housekeeping(db: Database, log: Log): Job[] {
  return [
    forgetIdempotencyKeys(db),
    keepPartitions(db),
    sweepTimersJob({ db, log }),
    pruneMarks(db),
    deleteRetiredVersions(db),
    forgetHistory(db),
    forgetDecisionsJob({ db, log }),
    clearTestInbox({ db, log }),
    forgetImports({ db, log }),
  ];
}
