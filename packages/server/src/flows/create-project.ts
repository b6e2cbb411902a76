import { openLane } from '../features/inbox/index.ts';
import { createProject as create, type Project } from '../features/projects/index.ts';
import { openTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';

/** A project is born with its lane and its turn: without them nothing is accepted for it, and nothing digested. */
export function createProject(
  db: Pick<Database, 'transaction' | 'clock'>,
  { name }: { name: string },
): Promise<Project> {
  return db.transaction(async (tx) => {
    const project = await create({ tx, clock: db.clock }, { name });
    await openLane(tx, project.id);
    await openTurn(tx, project.id);
    return project;
  });
}
