/**
 * Failpoints: places where a process that dies, fails or stalls leaves work half done. They have names so that tests can stop a process
 * exactly there; nothing else uses them. `…_committing` is before a COMMIT is sent, `…_committed` after its answer.
 */
export const CRASH_POINTS = [
  // Ingest: a flush.
  'accept_beginning',
  'accept_committing',
  'accept_commit_sent',
  'accept_committed',
  'accept_answered',
  // Processing: a batch, and the work of timers.
  'batch_claimed',
  'digest_folded',
  'digest_committing',
  'digest_committed',
  'timers_claimed',
  'due_committing',
  'due_committed',
  // Sending: a claim, and the steps of each email.
  'send_claimed',
  'send_committing',
  'send_committed',
  'submit_committing',
  'submit_committed',
  'email_dot_sent',
  'email_answered',
  'result_rescheduled',
  'result_committing',
  'result_committed',
  // Outcomes of emails, and the webhooks about them.
  'outcome_committing',
  'outcome_committed',
  'tell_recorded',
  'webhooks_claimed',
  'tell_committing',
  'tell_committed',
  'hook_posted',
  'hook_answered',
  // Scheduled jobs, imports, migrations, and the shutdown.
  'job_started',
  'hits_settling',
  'import_committing',
  'import_committed',
  'migration_done',
  'stopping',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Called in passing, without waiting for a result. */
export type FailpointHook = (point: CrashPoint) => void;
