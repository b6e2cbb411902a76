import { ENDPOINTS, RATE_LIMIT_DEFAULTS } from '@beckon/contract';
import type { Clock } from '../../base/clock.ts';
import type { Tx } from '../../io/db/index.ts';
import { checkName, type Project } from './project.ts';
import { insertProject, insertRateLimits, nextProjectId } from './store.ts';

/** The project with its settings and full buckets; the flow opens its lane in the same transaction. */
export async function createProject(
  deps: { tx: Tx; clock: Clock },
  { name }: { name: string },
): Promise<Project> {
  checkName(name);
  const id = await nextProjectId(deps.tx);
  const createdAt = new Date(deps.clock.now());
  await insertProject(deps.tx, { project_id: id, name, livemode: true, created_at: createdAt });
  const limits = ENDPOINTS.map((endpoint) => ({ endpoint, ...RATE_LIMIT_DEFAULTS[endpoint] }));
  await insertRateLimits(deps.tx, { projectId: id, limits, at: createdAt });
  return { id, name, livemode: true, suspendedAt: null, createdAt };
}
