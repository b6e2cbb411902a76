import {
  type Audience,
  type AudienceEdit,
  countPeople,
  editAudience as edit,
} from '../features/audiences/index.ts';
import { newModel, takeTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';
import { checkDefinition } from './check-definition.ts';
import { rebuildReferrers } from './rebuild-audiences.ts';

/** Under the project's turn. A new name is a new model too: whoever holds the old one calls the audience by its old name. */
export function editAudience(
  db: Pick<Database, 'transaction' | 'clock'>,
  wanted: AudienceEdit,
): Promise<Audience> {
  return db.transaction(async (tx) => {
    // It only tells how far the build has come, so it is counted before anybody has to wait for the turn.
    const people = wanted.definition === undefined ? 0 : await countPeople(tx, wanted.projectId);
    await takeTurn(tx, wanted.projectId);
    const edition = await newModel(tx, wanted.projectId);
    const { isRebuilt, ...audience } = await edit({ tx, clock: db.clock }, { ...wanted, edition, people });
    const { projectId } = wanted;
    if (isRebuilt)
      await rebuildReferrers({ tx, clock: db.clock }, { projectId, audienceId: audience.id, people });
    if (wanted.definition !== undefined) await checkDefinition(tx, projectId, db.clock.now());
    return audience;
  });
}
