import type { Clock } from '../base/clock.ts';
import { openLane } from '../features/inbox/index.ts';
import { createProject as create, type NewProject, type Project } from '../features/projects/index.ts';
import { createRules, SHIPPED_RULES } from '../features/rules/index.ts';
import { openSendTurn } from '../features/sending/index.ts';
import { openTurn } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';

/**
 * A project is born with its lane and its turns, without which nothing is accepted for it, digested or sent; and with the
 * four rules that every project has, switched on.
 */
export function createProject(
  db: Pick<Database, 'transaction' | 'clock'>,
  wanted: NewProject,
): Promise<Project> {
  return db.transaction((tx) => createProjectIn({ tx, clock: db.clock }, wanted));
}

/** The same within somebody's transaction. */
export async function createProjectIn(deps: { tx: Tx; clock: Clock }, wanted: NewProject): Promise<Project> {
  const project = await createBareProject(deps, wanted);
  await createRules(deps, project.id, SHIPPED_RULES);
  return project;
}

/** The same without any rules. */
export async function createBareProject(
  deps: { tx: Tx; clock: Clock },
  wanted: NewProject,
): Promise<Project> {
  const { tx } = deps;
  const project = await create(deps, wanted);
  await openLane(tx, project.id);
  await openTurn(tx, project.id);
  await openSendTurn(tx, project.id);
  return project;
}
