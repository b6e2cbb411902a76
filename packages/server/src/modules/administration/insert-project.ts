import { ENDPOINTS, RATE_LIMIT_DEFAULTS } from '@beckon/contract';
import type { Clock } from '../../platform/time/clock.ts';
import type { Tx } from '../../platform/db/statements.ts';
import {
  checkName,
  type Project,
  insertProject,
  insertRateLimits,
  nextProjectId,
} from '../workspace/index.ts';

export type NewProject = {
  name: string;
  organizationId?: string | null;
  /** An id that was taken from the sequence before. */
  id?: number;
  isDemo?: boolean;
  /** The live project, for a new sandbox. */
  sandboxOf?: number;
};

/** Creates a project with its settings and full rate limit buckets. The flow creates its queue row in the same transaction. */
export async function createProject(
  deps: { tx: Tx; clock: Clock },
  { name, organizationId = null, ...given }: NewProject,
): Promise<Project> {
  checkName(name);
  const id = given.id ?? (await nextProjectId(deps.tx));
  const createdAt = new Date(deps.clock.now());
  const livemode = given.sandboxOf === undefined;
  await insertProject(deps.tx, {
    project_id: id,
    name,
    livemode,
    created_at: createdAt,
    organization_id: organizationId,
    is_demo: given.isDemo ?? false,
    sandbox_of: given.sandboxOf ?? null,
  });
  const limits = ENDPOINTS.map((endpoint) => ({ endpoint, ...RATE_LIMIT_DEFAULTS[endpoint] }));
  await insertRateLimits(deps.tx, { projectId: id, limits, at: createdAt });
  return { id, name, livemode, suspendedAt: null, createdAt };
}
