import { openLane } from '../features/inbox/index.ts';
import { createProject as create, type Project } from '../features/projects/index.ts';
import { createRules, SHIPPED_RULES } from '../features/rules/index.ts';
import { openSendTurn } from '../features/sending/index.ts';
import { openTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';

/**
 * A project is born with its lane and its turns, without which nothing is accepted for it, digested or sent; and with the
 * four rules that every project has, switched on.
 */
export function createProject(
  db: Pick<Database, 'transaction' | 'clock'>,
  { name }: { name: string },
): Promise<Project> {
  return db.transaction(async (tx) => {
    const project = await create({ tx, clock: db.clock }, { name });
    await openLane(tx, project.id);
    await openTurn(tx, project.id);
    await openSendTurn(tx, project.id);
    await createRules({ tx, clock: db.clock }, project.id, SHIPPED_RULES);
    return project;
  });
}
