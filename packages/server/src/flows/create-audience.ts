import { type Audience, countPeople, createAudience as create } from '../features/audiences/index.ts';
import { newModel, takeTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';
import { checkDefinition } from './check-definition.ts';

/** Under the project's turn: what is digested is digested by one set of definitions. */
export function createAudience(
  db: Pick<Database, 'transaction' | 'clock'>,
  wanted: { projectId: number; name: string; definition: unknown },
): Promise<Audience> {
  return db.transaction(async (tx) => {
    // It only tells how far the build has come, so it is counted before anybody has to wait for the turn.
    const people = await countPeople(tx, wanted.projectId);
    await takeTurn(tx, wanted.projectId);
    const edition = await newModel(tx, wanted.projectId);
    const audience = await create({ tx, clock: db.clock }, { ...wanted, edition, people });
    await checkDefinition(tx, wanted.projectId, db.clock.now());
    return audience;
  });
}
