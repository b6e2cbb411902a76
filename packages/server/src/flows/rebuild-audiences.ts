import type { Clock } from '../base/clock.ts';
import { listBuiltOn, rebuildAudience } from '../features/audiences/index.ts';
import { newModel } from '../features/turns/index.ts';
import type { Tx } from '../io/db/index.ts';

type Deps = { tx: Tx; clock: Clock };
type Wanted = { projectId: number; audienceIds: string[]; people: number };

/** With the project's turn taken: each is built from the first person on, by its newest definition. */
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

/** With the project's turn taken and a new edition of this audience: what was being built on another one begins anew. */
export async function rebuildReferrers(
  deps: Deps,
  { projectId, audienceId, people }: { projectId: number; audienceId: string; people: number },
): Promise<void> {
  const audienceIds = await listBuiltOn(deps.tx, projectId, [audienceId]);
  await rebuildAudiences(deps, { projectId, audienceIds, people });
}
