import { compareBytes } from '../../../platform/text/byte-order.ts';
import { findMemberships } from '../../audiences/index.ts';
import type { Decision } from '../decisions/decision.ts';
import { writeDecisions } from '../decisions/store.ts';
import { afterExclusions, type Enrollment } from './enrollment.ts';
import { listRunningEnrollments, updateEnrollment } from './store.ts';
import type { Reason } from '../definitions/rule.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Model } from '../project-model.ts';
import { type EntryAudience, entryAudiences } from './members.ts';

/** A change of a membership that is not written yet. */
type Move = { projectId: number; userId: string; audienceId: string; move: 'joined' | 'left' };

const REASON: Reason = 'left_audience';

/**
 * Logs and counts the users who leave every audience of a rule before its running enrollment reaches them: no batch lists them
 * later. A user who stays in another audience of the rule is left to the batch.
 *
 * It must run with the projects locked and before the memberships are deleted, because it reads since when users are members.
 */
export async function excludeLeavers(
  tx: Tx,
  moves: Move[],
  { models, now }: { models: Map<number, Model>; now: number },
): Promise<void> {
  const leaves = moves.filter(
    ({ projectId, audienceId, move }) =>
      move === 'left' && (models.get(projectId)?.rules.onMove(audienceId, 'joined').length ?? 0) > 0,
  );
  if (leaves.length === 0) return;
  const ofProject = Map.groupBy(leaves, ({ projectId }) => projectId);
  for (const enrollment of await listRunningEnrollments(tx, [...ofProject.keys()])) {
    const { projectId } = enrollment;
    const model = models.get(projectId);
    const leavers = model
      ? await listLeavers(tx, enrollment, { model, leaves: ofProject.get(projectId) ?? [] })
      : [];
    if (leavers.length === 0) continue;
    await writeDecisions(
      tx,
      leavers.map((leaver) => decisionOf(enrollment, leaver, now)),
    );
    await updateEnrollment(tx, afterExclusions(enrollment, { reason: REASON, users: leavers.length }));
  }
}

/** `audienceId`: the first audience of the rule that the user was in. */
type Leaver = { userId: string; audienceId: string };

async function listLeavers(
  tx: Tx,
  enrollment: Enrollment,
  { model, leaves }: { model: Model; leaves: Move[] },
): Promise<Leaver[]> {
  const { projectId, ruleId, startedAt } = enrollment;
  const rule = model.rules.byId.get(ruleId);
  const audiences = rule ? entryAudiences(model, rule) : [];
  const leftBy = audiencesLeft(enrollment, audiences, leaves);
  const users = [...leftBy.keys()].map((userId) => ({ projectId, userId }));
  const memberships = await findMemberships(tx, users, { withTimers: false });
  return users.flatMap(({ userId }, at) => {
    const members = memberships[at]?.members;
    // A user who joined after the start began the rule by joining.
    const entered = audiences.filter(({ versionId }) => {
      const since = versionId === null ? undefined : members?.get(versionId);
      return since !== undefined && since.getTime() <= startedAt;
    });
    const [first] = entered;
    const stays = entered.some(({ audienceId }) => !leftBy.get(userId)?.has(audienceId));
    return first && !stays ? [{ userId, audienceId: first.audienceId }] : [];
  });
}

/** Maps each leaving user to the audiences of the rule that they leave. Users whom a batch has reached already are left out. */
function audiencesLeft(
  { afterUser }: Enrollment,
  audiences: EntryAudience[],
  leaves: Move[],
): Map<string, Set<string>> {
  const ids = new Set(audiences.map(({ audienceId }) => audienceId));
  const leftBy = new Map<string, Set<string>>();
  for (const { userId, audienceId } of leaves) {
    const isReached = afterUser !== null && compareBytes(userId, afterUser) <= 0;
    if (isReached || !ids.has(audienceId)) continue;
    leftBy.set(userId, (leftBy.get(userId) ?? new Set()).add(audienceId));
  }
  return leftBy;
}

function decisionOf(
  { projectId, ruleId }: Enrollment,
  { userId, audienceId }: Leaver,
  now: number,
): Decision {
  const detail = { audience_id: audienceId, by: 'enrollment' };
  return { projectId, userId, ruleId, key: '', reason: REASON, detail, at: now };
}
