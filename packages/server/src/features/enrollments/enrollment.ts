/**
 * An enrollment puts the users who are in the audiences of a rule already through its decision, in batches. Users who join
 * later start the rule by joining. Moments are milliseconds.
 */
export type Enrollment = {
  projectId: number;
  id: string;
  ruleId: string;
  state: 'running' | 'done' | 'canceled';
  startedAt: number;
  endedAt: number | null;
  /** When the next batch is due; null once it has ended. */
  nextAt: number | null;
  /** The last processed member, in the order of bytes. */
  afterUser: string | null;
  /** Members when it started. */
  members: number;
  processed: number;
  enrolled: number;
  /** By reason, how many were not enrolled. */
  excluded: Record<string, number>;
};

export type EnrollmentBatch = {
  /** Null: there was no member left. */
  lastUser: string | null;
  processed: number;
  /** The reason of each decision of this batch. */
  reasons: string[];
  isLast: boolean;
};

/** Adds a batch to the counts. `fired`: the user was enrolled; every other reason excluded them. */
export function afterBatch(enrollment: Enrollment, batch: EnrollmentBatch, now: number): Enrollment {
  const excluded = { ...enrollment.excluded };
  for (const reason of batch.reasons) if (reason !== 'fired') excluded[reason] = (excluded[reason] ?? 0) + 1;
  const counted = {
    ...enrollment,
    processed: enrollment.processed + batch.processed,
    enrolled: enrollment.enrolled + batch.reasons.filter((reason) => reason === 'fired').length,
    excluded,
  };
  return batch.isLast
    ? { ...counted, state: 'done', endedAt: now, nextAt: null, afterUser: null }
    : { ...counted, nextAt: now, afterUser: batch.lastUser ?? enrollment.afterUser };
}
