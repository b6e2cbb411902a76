/**
 * An enrollment evaluates a rule for the users who are in its audiences already, in batches. Users who join later start the
 * rule by joining. Times are milliseconds.
 */
export type Enrollment = {
  projectId: number;
  id: string;
  ruleId: string;
  state: 'running' | 'done' | 'canceled';
  startedAt: number;
  endedAt: number | null;
  /** When the next batch is due; null after the enrollment has ended. */
  nextAt: number | null;
  /** The id of the last processed member, in byte order. */
  afterUser: string | null;
  /** The number of members at the start. */
  members: number;
  processed: number;
  enrolled: number;
  /** The number of users who were not enrolled, by reason. */
  excluded: Record<string, number>;
  /** Null unless the enrollment was canceled. */
  cancelReason: CancelReason | null;
};

/** `rule_edited`: the definition of the rule changed, so the preview no longer shows the users that the enrollment covers. */
export type CancelReason = 'rule_off' | 'rule_edited';

export type EnrollmentBatch = {
  /** Null if no member was left. */
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

/** Adds users who were excluded outside a batch to the counts. The next batch begins and is due as before. */
export function afterExclusions(
  enrollment: Enrollment,
  { reason, users }: { reason: string; users: number },
): Enrollment {
  const { processed, excluded } = enrollment;
  return {
    ...enrollment,
    processed: processed + users,
    excluded: { ...excluded, [reason]: (excluded[reason] ?? 0) + users },
  };
}
