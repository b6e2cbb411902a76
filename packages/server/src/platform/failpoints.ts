/**
 * Failpoints: places where a process that dies, fails or stalls leaves work half done. They have names so that tests can stop a process
 * exactly there; nothing else uses them. `…_committing` is before a COMMIT is sent, `…_committed` after its answer.
 */
export const FAILPOINTS = [
  // Ingest: a flush.
  'ingest_started',
  'ingest_committing',
  'ingest_commit_sent',
  'ingest_committed',
  'ingest_responded',
  // Processing: a batch, and the work of timers.
  'batch_claimed',
  'batch_applied',
  'batch_committing',
  'batch_committed',
  'timers_claimed',
  'timers_committing',
  'timers_committed',
  // Sending: a claim, and the steps of each email.
  'send_claimed',
  'send_committing',
  'send_committed',
  'submit_committing',
  'submit_committed',
  'email_dot_sent',
  'email_reply_received',
  'result_rescheduled',
  'result_committing',
  'result_committed',
  // Outcomes of emails, and the webhooks about them.
  'outcome_committing',
  'outcome_committed',
  'webhooks_recorded',
  'webhooks_claimed',
  'webhooks_committing',
  'webhooks_committed',
  'webhook_posted',
  'webhook_response_received',
  // Scheduled jobs, imports, migrations, and the shutdown.
  'job_started',
  'hits_classified',
  'import_committing',
  'import_committed',
  'migration_applied',
  'stopping',
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

/** Called in passing, without waiting for a result. */
export type FailpointHook = (point: Failpoint) => void;
