import type { Clock } from '../../platform/time/clock.ts';
import { listBuiltOn } from './list-referrers.ts';
import { rebuildAudience } from './edit-audience.ts';
import { newModel } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';

type Deps = { tx: Tx; clock: Clock };
type Wanted = { projectId: number; audienceIds: string[]; people: number };

/** Rebuilds each audience from the first user on, by its newest definition. The caller holds the project lock. */
export async function rebuildAudiences(
  deps: Deps,
  { projectId, audienceIds, people }: Wanted,
): Promise<void> {
  const more = await listBuiltOn(deps.tx, projectId, audienceIds);
  for (const audienceId of new Set([...audienceIds, ...more])) {
    const edition = await newModel(deps.tx, projectId);
    await rebuildAudience(deps, { projectId, audienceId, edition, people });
  }
}

/** Restarts builds that refer to an older edition of this audience. The caller holds the project lock and has created a new edition. */
export async function rebuildReferrers(
  deps: Deps,
  { projectId, audienceId, people }: { projectId: number; audienceId: string; people: number },
): Promise<void> {
  const audienceIds = await listBuiltOn(deps.tx, projectId, [audienceId]);
  await rebuildAudiences(deps, { projectId, audienceIds, people });
}
