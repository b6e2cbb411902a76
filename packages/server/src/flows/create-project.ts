import type { Clock } from '../base/clock.ts';
import { openQueue } from '../features/inbox/index.ts';
import { Fault } from '../base/fault.ts';
import {
  countProjectsOf,
  createProject as create,
  type NewProject,
  type Project,
} from '../features/projects/index.ts';
import { createRules, SHIPPED_RULES } from '../features/rules/index.ts';
import { openSendTurn } from '../features/sending/index.ts';
import { lockOrganization } from '../features/team/index.ts';
import { openTurn } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';

/**
 * A project is born with its queue row and its turns, without which nothing is accepted for it, digested or sent; and with the
 * four rules that every project has, switched on.
 */
export function createProject(
  db: Pick<Database, 'transaction' | 'clock'>,
  wanted: NewProject,
): Promise<Project> {
  return db.transaction((tx) => createProjectIn({ tx, clock: db.clock }, wanted));
}

/** The same within a transaction of the caller. */
export async function createProjectIn(deps: { tx: Tx; clock: Clock }, wanted: NewProject): Promise<Project> {
  const project = await createBareProject(deps, wanted);
  await createRules(deps, project.id, SHIPPED_RULES);
  return project;
}

/**
 * Refuses one more project for an organization that has `max` of them. It locks the organization for the rest of the
 * transaction, so that two requests at once cannot both take the last place. Each project has rate limits, quotas and a
 * share of the queue of its own: without a bound they would be no bound for an organization.
 */
export async function requireProjectSlot(
  tx: Tx,
  { organizationId, max }: { organizationId: string; max: number },
): Promise<void> {
  await lockOrganization(tx, organizationId);
  const count = await countProjectsOf(tx, organizationId);
  if (count < max) return;
  const message = `This organization has ${count} projects. The maximum is ${max}: ask the operator to raise PROJECTS_PER_ORGANIZATION`;
  throw new Fault('conflict', { details: [{ message, field: 'organization' }] });
}

/** The same without any rules. */
export async function createBareProject(
  deps: { tx: Tx; clock: Clock },
  wanted: NewProject,
): Promise<Project> {
  const { tx } = deps;
  const project = await create(deps, wanted);
  await openQueue(tx, project.id);
  await openTurn(tx, project.id);
  await openSendTurn(tx, project.id);
  return project;
}
