import { countMembersOfAny } from './audience-members.ts';
import type { Decision } from '../decisions/decision.ts';
import { findRule, type WholeRule } from '../definitions/load-rules.ts';
import { afterBatch, type Enrollment } from './enrollment.ts';
import {
  type Candidate,
  versionIdsOf,
  entryAudiences,
  listCandidates,
  readEnrollmentFacts,
} from './members.ts';
import { findDueEnrollment, findRunningEnrollment, insertEnrollment, updateEnrollment } from './store.ts';
import type { EnrollmentItem } from '../evaluation/trigger-events.ts';
import { loadProjectModels, type Model } from '../project-model.ts';
import type { Person } from '../../users/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import { readProjectLock, takeProjectLock } from '../../../platform/locks/project-lock.ts';
import { setTimersEarlier } from '../../../platform/locks/timers.ts';

type OfRule = { projectId: number; reference: string; newId: NewId };

/**
 * Starts to enroll the users who are in the audiences of a rule now. The rule must be on. Returns the running enrollment of the
 * rule if there is one, so repeating the request changes nothing.
 */
export function startEnrollment(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, reference, newId }: OfRule,
): Promise<{ rule: WholeRule; enrollment: Enrollment }> {
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const rule = await findRule(tx, { projectId, reference });
    return { rule, enrollment: await startEnrollmentIn(tx, { rule, projectId, newId, now: db.clock.now() }) };
  });
}

/** Starts an enrollment in the caller's transaction, with the project locked. */
export async function startEnrollmentIn(
  tx: Tx,
  { rule, projectId, newId, now }: { rule: WholeRule; projectId: number; newId: NewId; now: number },
): Promise<Enrollment> {
  if (rule.enabledAt === null)
    throw enrollConflict(`The rule ${JSON.stringify(rule.name)} is disabled. Enable it to enroll users`);
  const running = await findRunningEnrollment(tx, { projectId, ruleId: rule.id });
  if (running) return running;
  const members = await countMembersOfAny(tx, {
    projectId,
    versionIds: await readyVersionIds(tx, { rule, projectId, now }),
  });
  const enrollment: Enrollment = {
    projectId,
    id: newId(),
    ruleId: rule.id,
    state: 'running',
    startedAt: now,
    endedAt: null,
    nextAt: now,
    afterUser: null,
    members,
    processed: 0,
    enrolled: 0,
    excluded: {},
    cancelReason: null,
  };
  await insertEnrollment(tx, enrollment);
  await setTimersEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
  return enrollment;
}

async function readyVersionIds(
  tx: Tx,
  { rule, projectId, now }: { rule: WholeRule; projectId: number; now: number },
): Promise<number[]> {
  const model = (await loadProjectModels(tx, [await readProjectLock(tx, projectId)], { now })).get(projectId);
  const active = model?.rules.byId.get(rule.id);
  if (!model || !active) throw new Error(`rule ${rule.id} of project ${projectId} was not loaded`);
  const audiences = entryAudiences(model, active);
  if (audiences.length === 0)
    throw enrollConflict(
      `The rule ${JSON.stringify(rule.name)} does not start when users enter an audience, so there are no members to enroll`,
    );
  const building = audiences.find(({ versionId }) => versionId === null);
  if (building)
    throw enrollConflict(
      `The audience ${JSON.stringify(building.name)} is still being built. Try again when it is ready`,
    );
  return versionIdsOf(audiences);
}

function enrollConflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'rule' }] });
}

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
  if (audiences.length === 0 || audiences.some(({ versionId }) => versionId === null)) {
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
