/**
 * Places at which a process that dies, fails or stands still leaves something half done behind. They are named so that who
 * tests what becomes of that can be there at that very moment; nobody else hears of them. `…_committing` stands before a
 * COMMIT leaves, `…_committed` behind its answer.
 */
export const CRASH_POINTS = [
  // Accepting: a flush.
  'accept_beginning',
  'accept_committing',
  'accept_commit_sent',
  'accept_committed',
  'accept_answered',
  // Digesting: a batch, and what time alone brings about.
  'batch_claimed',
  'digest_folded',
  'digest_committing',
  'digest_committed',
  'timers_claimed',
  'due_committing',
  'due_committed',
  // Sending: a claim, and each letter's way.
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
  // What became of letters, and telling of it.
  'outcome_committing',
  'outcome_committed',
  'tell_recorded',
  'webhooks_claimed',
  'tell_committing',
  'tell_committed',
  'hook_posted',
  'hook_answered',
  // What is done again and again, imports, changes of the schema, and the end.
  'job_started',
  'hits_settling',
  'import_committing',
  'import_committed',
  'migration_done',
  'stopping',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Called in passing, and waited for by nobody. */
export type Reach = (point: CrashPoint) => void;
