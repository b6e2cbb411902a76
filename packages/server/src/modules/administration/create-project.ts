import { ENDPOINTS, RATE_LIMIT_DEFAULTS } from '@beckon/contract';
import { openQueue } from '../ingest/index.ts';
import { createRules, SHIPPED_RULES } from '../rules/index.ts';
import { createSendLock } from '../sending/index.ts';
import { lockOrganization, type Project, invalid } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import { openProjectLock } from '../../platform/locks/store.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { countProjectsOf, insertProject, insertRateLimits, nextProjectId } from './project-store.ts';

/**
 * Creates a project with its queue row and its locks, which ingest, processing and sending require, and with the four shipped rules,
 * enabled.
 */
export function createProject(
  db: Pick<Database, 'transaction' | 'clock'>,
  input: NewProject,
): Promise<Project> {
  return db.transaction((tx) => createProjectIn({ tx, clock: db.clock }, input));
}

/** Like `createProject`, within a transaction of the caller. */
export async function createProjectIn(deps: { tx: Tx; clock: Clock }, input: NewProject): Promise<Project> {
  const project = await createBareProject(deps, input);
  await createRules(deps, project.id, SHIPPED_RULES);
  return project;
}

/**
 * Rejects one more project for an organization that already has `max` projects. It locks the organization for the rest of the transaction,
 * so that two concurrent requests cannot both take the last slot. Each project has its own rate limits, quotas and share of the queue.
 * Without this limit they would not limit an organization.
 */
export async function requireProjectSlot(
  tx: Tx,
  { organizationId, max }: { organizationId: string; max: number },
): Promise<void> {
  await lockOrganization(tx, organizationId);
  const count = await countProjectsOf(tx, organizationId);
  if (count < max) return;
  const message = `This organization has ${count} projects. The maximum is ${max}: ask the operator to raise PROJECTS_PER_ORGANIZATION`;
  throw new Fault('conflict', { details: [{ message, field: 'organization' }] });
}

/** Like `createProjectIn`, without any rules. */
export async function createBareProject(deps: { tx: Tx; clock: Clock }, input: NewProject): Promise<Project> {
  const { tx } = deps;
  const project = await create(deps, input);
  await openQueue(tx, project.id);
  await openProjectLock(tx, project.id);
  await createSendLock(tx, project.id);
  return project;
}

type NewProject = {
  name: string;
  organizationId?: string | null;
  /** An id that was taken from the sequence before. */
  id?: number;
  isDemo?: boolean;
  /** The live project, for a new sandbox. */
  sandboxOf?: number;
};

/** Creates a project with its settings and full rate limit buckets. The flow creates its queue row in the same transaction. */
async function create(
  deps: { tx: Tx; clock: Clock },
  { name, organizationId = null, ...options }: NewProject,
): Promise<Project> {
  checkName(name);
  const id = options.id ?? (await nextProjectId(deps.tx));
  const createdAt = new Date(deps.clock.now());
  const livemode = options.sandboxOf === undefined;
  await insertProject(deps.tx, {
    project_id: id,
    name,
    livemode,
    created_at: createdAt,
    organization_id: organizationId,
    is_demo: options.isDemo ?? false,
    sandbox_of: options.sandboxOf ?? null,
  });
  const limits = ENDPOINTS.map((endpoint) => ({ endpoint, ...RATE_LIMIT_DEFAULTS[endpoint] }));
  await insertRateLimits(deps.tx, { projectId: id, limits, at: createdAt });
  return { id, name, livemode, suspendedAt: null, createdAt };
}

const NAME_MAX_CHARS = 100;

/** Rejects a name of digits only, because a project can be referenced by name or id. */
function checkName(name: string): void {
  if (name.length < 1 || name.length > NAME_MAX_CHARS || !name.isWellFormed() || /\p{Cc}/u.test(name))
    throw invalid(`name must have 1 to ${NAME_MAX_CHARS} characters, without control characters`, 'name');
  if (name.trim() !== name) throw invalid('name must not begin or end with a space', 'name');
  if (/^\d+$/.test(name))
    throw invalid('name must not consist of digits only: it would look like an id', 'name');
}
