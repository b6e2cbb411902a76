import type { Audience } from './find-audience.ts';
import { type AudienceEdit, editAudience as edit } from './edit-audience.ts';
import { countPeople } from './count-people.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import type { AudienceDeps } from './create.ts';
import { checkDefinition } from './check-definition.ts';
import { rebuildReferrers } from './rebuild.ts';

/**
 * Edits an audience under the project lock. A new name is also a new model, because a process with the old model would show the old name.
 */
export function editAudience({ db, listRuleNeeds }: AudienceDeps, wanted: AudienceEdit): Promise<Audience> {
  return db.transaction(async (tx) => {
    // The count only serves the progress of the build, so it is taken before the project lock is requested.
    const people = wanted.definition === undefined ? 0 : await countPeople(tx, wanted.projectId);
    await takeTurn(tx, wanted.projectId);
    const edition = await newModel(tx, wanted.projectId);
    const { isRebuilt, ...audience } = await edit({ tx, clock: db.clock }, { ...wanted, edition, people });
    const { projectId } = wanted;
    if (isRebuilt)
      await rebuildReferrers({ tx, clock: db.clock }, { projectId, audienceId: audience.id, people });
    if (wanted.definition !== undefined)
      await checkDefinition(tx, { projectId, now: db.clock.now(), listRuleNeeds });
    return audience;
  });
}
