import { afterBatch, type Enrollment } from './enrollment.ts';
import { findDueEnrollment, updateEnrollment } from './store.ts';
import type { Decision } from '../decisions/decision.ts';
import type { Person } from '../../users/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Model } from '../project-model.ts';
import type { EnrollmentItem } from '../evaluation/trigger-events.ts';
import { type Candidate, entryAudiences, listCandidates, readEnrollmentFacts } from './members.ts';

/** The next members of an enrollment, for the transaction that processes them. */
export type EnrollmentStep = {
  enrollment: Enrollment;
  candidates: Candidate[];
  lastUser: string | null;
  isLast: boolean;
};

type BatchRequest = { projectId: number; model: Model; now: number; until: number; limit: number };

/** Members of a new audience cannot be read until the background job has built it, 500 users at a time. */
const AUDIENCE_RETRY_MS = 10_000;

/**
 * Lists the next batch of a running enrollment that is due by `until`, with the project locked. The memberships that change in
 * this transaction must be written already.
 */
export async function nextEnrollmentStep(
  tx: Tx,
  { projectId, model, now, until, limit }: BatchRequest,
): Promise<EnrollmentStep | null> {
  const enrollment = await findDueEnrollment(tx, { projectId, until });
  if (!enrollment) return null;
  const rule = model.rules.byId.get(enrollment.ruleId);
  const audiences = rule ? entryAudiences(model, rule) : [];
  if (audiences.length === 0 || audiences.some(({ edition }) => edition === null)) {
    await updateEnrollment(tx, { ...enrollment, nextAt: now + AUDIENCE_RETRY_MS });
    return null;
  }
  const { startedAt, afterUser: after } = enrollment;
  const candidates = await listCandidates(tx, { projectId, audiences, until: startedAt, after, limit });
  const lastUser = candidates.at(-1)?.userId ?? null;
  return { enrollment, candidates, lastUser, isLast: candidates.length < limit };
}

/** Builds the items by which the rules evaluate the members of this batch, by user id. */
export async function enrollmentItems(
  tx: Tx,
  { enrollment, candidates }: EnrollmentStep,
  { model, people, now }: { model: Model; people: Person[]; now: number },
): Promise<Map<string, EnrollmentItem>> {
  const rule = model.rules.byId.get(enrollment.ruleId);
  if (!rule) return new Map();
  const audienceOf = new Map(candidates.map(({ userId, audience }) => [userId, audience.audienceId]));
  const members = people.filter(({ userId }) => audienceOf.has(userId));
  const facts = await readEnrollmentFacts(tx, { rule, people: members, candidates, now });
  return new Map(
    [...facts].map(([userId, enrollmentFacts]): [string, EnrollmentItem] => [
      userId,
      {
        kind: 'enrollment',
        ruleId: rule.id,
        audienceId: audienceOf.get(userId) ?? '',
        enrollment: enrollmentFacts,
        at: now,
      },
    ]),
  );
}

/** Writes the progress and counts of an enrollment, in the transaction of its decisions. */
export function recordEnrollment(
  tx: Tx,
  { enrollment, candidates, lastUser, isLast }: EnrollmentStep,
  { decisions, now }: { decisions: Decision[]; now: number },
): Promise<void> {
  const reasons = decisions.flatMap(({ ruleId, reason, detail }) =>
    ruleId === enrollment.ruleId && detail['by'] === 'enrollment' ? [reason] : [],
  );
  const batch = { lastUser, processed: candidates.length, reasons, isLast };
  return updateEnrollment(tx, afterBatch(enrollment, batch, now));
}
