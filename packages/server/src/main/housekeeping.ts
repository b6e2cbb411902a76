import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/db/database.ts';
import { forgetAnswers } from '../modules/ingest/idempotency/forget-answers-job.ts';
import { forgetDecisions } from '../modules/rules/decisions/forget-decisions-job.ts';
import { forgetEditions } from '../modules/audiences/delete-retired-job.ts';
import { forgetHistory } from '../modules/operations/retention/forget-history-job.ts';
import { forgetImports } from '../modules/imports/run/forget-imports-job.ts';
import { clearTestInbox } from '../modules/sending/test-inbox/clear-test-inbox-job.ts';
import { keepPartitions } from '../modules/users/events/partitions-job.ts';
import { pruneMarks, sweepDues } from '../modules/processing/jobs.ts';
import type { Job } from '../platform/jobs/scheduler.ts';

/** Returns the jobs that maintain the database, in any process. Two processes can run the same job without harm. */
export function housekeeping(db: Database, log: Log): Job[] {
  return [
    forgetAnswers(db),
    keepPartitions(db),
    sweepDues({ db, log }),
    pruneMarks(db),
    forgetEditions(db),
    forgetHistory(db),
    forgetDecisions({ db, log }),
    clearTestInbox({ db, log }),
    forgetImports({ db, log }),
  ];
}
