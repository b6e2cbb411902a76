import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import { countMembersOfAny } from '../../audiences/index.ts';
import type { Enrollment } from './enrollment.ts';
import { findRunningEnrollment, insertEnrollment } from './store.ts';
import { findRule, type WholeRule } from '../definitions/find-rule.ts';
import { dueEarlier } from '../../../platform/locks/timers.ts';
import { readTurn, takeTurn } from '../../../platform/locks/project-lock.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { loadProjectModels } from '../project-model.ts';
import { entryAudiences, editionsOf } from './members.ts';

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
    await takeTurn(tx, projectId);
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
    throw refused(`The rule ${JSON.stringify(rule.name)} is off. Turn it on to enroll users`);
  const running = await findRunningEnrollment(tx, { projectId, ruleId: rule.id });
  if (running) return running;
  const members = await countMembersOfAny(tx, {
    projectId,
    editions: await readyEditions(tx, { rule, projectId, now }),
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
  await dueEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
  return enrollment;
}

async function readyEditions(
  tx: Tx,
  { rule, projectId, now }: { rule: WholeRule; projectId: number; now: number },
): Promise<number[]> {
  const model = (await loadProjectModels(tx, [await readTurn(tx, projectId)], { now })).get(projectId);
  const active = model?.rules.byId.get(rule.id);
  if (!model || !active) throw new Error(`rule ${rule.id} of project ${projectId} was not loaded`);
  const audiences = entryAudiences(model, active);
  if (audiences.length === 0)
    throw refused(
      `The rule ${JSON.stringify(rule.name)} does not start when users enter an audience, so there are no members to enroll`,
    );
  const building = audiences.find(({ edition }) => edition === null);
  if (building)
    throw refused(
      `The audience ${JSON.stringify(building.name)} is still being built. Try again when it is ready`,
    );
  return editionsOf(audiences);
}

function refused(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'rule' }] });
}
