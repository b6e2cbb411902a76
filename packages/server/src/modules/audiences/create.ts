import type { Audience } from './find-audience.ts';
import { countPeople } from './count-people.ts';
import { createAudience as create } from './create-audience.ts';
import type { ListRuleNeeds } from './rule-needs.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import { checkDefinition } from './check-definition.ts';

/** The database, and the needs of rules that depend on audiences. */
export type AudienceDeps = { db: Pick<Database, 'transaction' | 'clock'>; listRuleNeeds: ListRuleNeeds };

/** Creates an audience under the project lock, so that each batch is processed by one set of definitions. */
export function createAudience(
  { db, listRuleNeeds }: AudienceDeps,
  wanted: { projectId: number; name: string; definition: unknown },
): Promise<Audience> {
  return db.transaction(async (tx) => {
    // The count only serves the progress of the build, so it is taken before the project lock is requested.
    const people = await countPeople(tx, wanted.projectId);
    await takeTurn(tx, wanted.projectId);
    const edition = await newModel(tx, wanted.projectId);
    const audience = await create({ tx, clock: db.clock }, { ...wanted, edition, people });
    await checkDefinition(tx, { projectId: wanted.projectId, now: db.clock.now(), listRuleNeeds });
    return audience;
  });
}
