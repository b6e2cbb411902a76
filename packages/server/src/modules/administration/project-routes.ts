import type { ProjectListed } from '@beckon/contract/dashboard';
import { Fault } from '../../platform/fault.ts';
import {
  listProjects,
  listSettings,
  type Project,
  isLocalShell,
  requireOperator,
  type RouteRequest,
  routesFor,
  type KitDeps,
} from '../workspace/index.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import { createProjectIn, requireProjectSlot } from './create-project.ts';
import { resumeProject, suspendProject } from './suspend-project.ts';
import { writeSettings } from './write-settings.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listSandboxRows } from './project-store.ts';

type Deps = KitDeps & { projectsMax: number };
const { route } = routesFor<Deps>();

export const projectRoutes = [
  route('GET /projects', {
    needs: 'signed_in',
    scope: 'read',
    async handle({ db, access }, { member }) {
      const roles = await access.rolesOf(member.id);
      const projects = (await listProjects(db)).filter(({ id }) => roles.has(id));
      const data = await listedProjects(db, projects, roles);
      const pagination = { total: data.length, offset: 0, limit: data.length };
      return { data, meta: { pagination, cursor: null } };
    },
  }),
  route('POST /projects', {
    needs: 'signed_in',
    scope: 'admin',
    audit: 'project.create',
    async handle({ db, access, projectsMax }, { member, body, note }) {
      const open = await access.organizationsToMakeIn(member.id);
      // Before the first member signs up there is no organization. The first one adopts such projects.
      const isEarly = open.length === 0 && isLocalShell(member);
      const organizationId = isEarly ? null : choose(open, body.organization);
      const project = await db.transaction(async (tx) => {
        if (organizationId !== null) await requireProjectSlot(tx, { organizationId, max: projectsMax });
        const made = await createProjectIn({ tx, clock: db.clock }, { name: body.name, organizationId });
        if (body.time_zone !== undefined) await writeSettings(tx, made.id, { time_zone: body.time_zone });
        return made;
      });
      note({
        ...(organizationId !== null && { organizationId }),
        subject: project.name,
        after: { id: project.id },
      });
      const [made] = await listedProjects(db, [project], await access.rolesOf(member.id));
      if (!made) throw new Error('a project that was just made is not there');
      return { data: made };
    },
  }),
  route('POST /projects/:project/suspend', {
    needs: 'owner',
    audit: 'project.suspend',
    handle: (deps, request) => suspend(deps, request, suspendProject),
  }),
  route('POST /projects/:project/unsuspend', {
    needs: 'owner',
    audit: 'project.unsuspend',
    handle: (deps, request) => suspend(deps, request, resumeProject),
  }),
];

async function suspend(
  { db, access }: Deps,
  { projectId, member, note }: Pick<RouteRequest<never>, 'projectId' | 'member' | 'note'>,
  change: typeof suspendProject,
): Promise<{ data: ProjectListed }> {
  await requireOperator({ db, access }, member, 'suspend or unsuspend a project');
  const project = await change(db, projectId);
  note({ subject: project.name, after: { suspended: project.suspendedAt !== null } });
  const [data] = await listedProjects(db, [project], await access.rolesOf(member.id));
  if (!data) throw new Fault('not_found');
  return { data };
}

/** Requires the organization of a new project wherever there is more than one choice. */
function choose(open: { id: string; name: string }[], organizationId: string | undefined): string {
  const [only] = open;
  if (!only) {
    const message = 'Your role does not allow this. The admin role is required';
    throw new Fault('role_required', { details: [{ message }] });
  }
  const organization =
    organizationId === undefined && open.length === 1 ? only : open.find(({ id }) => id === organizationId);
  if (organization) return organization.id;
  const message = `organization must be the ID of one where you can create projects: ${open
    .map(({ id, name }) => `${id} (${name})`)
    .join(', ')}`;
  throw new Fault('validation_failed', { details: [{ message, field: 'organization' }] });
}

type Roles = Awaited<ReturnType<Deps['access']['rolesOf']>>;

async function listedProjects(db: Deps['db'], projects: Project[], roles: Roles): Promise<ProjectListed[]> {
  const ids = projects.map(({ id }) => id);
  const settings = await listSettings(db, ids);
  const sandboxes = await listSandboxes(db, ids);
  const ahead = await aheadOf(db, [...sandboxes.keys()]);
  return projects.flatMap((project) => {
    const { id, name, livemode, suspendedAt } = project;
    const [role, config, sandbox] = [roles.get(id), settings.get(id), sandboxes.get(id)];
    // A sandbox that was switched off is hidden until it is switched on again.
    if (!role || !config || sandbox?.isClosed) return [];
    const { paused, timeZone: time_zone } = config.settings;
    const suspended = suspendedAt !== null;
    const time = { time_zone, ahead_ms: ahead.get(id) ?? 0 };
    const pair = { livemode, sandbox_of: sandbox?.sandboxOf ?? null };
    return [{ id, name, ...pair, role, demo: config.isDemo, suspended, paused, ...time }];
  });
}

async function aheadOf(db: Deps['db'], sandboxIds: number[]): Promise<Map<number, number>> {
  const locks = await Promise.all(sandboxIds.map((id) => readProjectLock(db, id)));
  return new Map(locks.map(({ projectId, aheadMs }) => [projectId, aheadMs]));
}

/** Lists the sandboxes among these projects, each with its live project and whether it is closed. */
async function listSandboxes(
  tx: Tx,
  projectIds: number[],
): Promise<Map<number, { sandboxOf: number; isClosed: boolean }>> {
  const rows = await listSandboxRows(tx, projectIds);
  return new Map(rows.map((row) => [row.project_id, { sandboxOf: row.sandbox_of, isClosed: row.is_closed }]));
}
