import type { FastifyRequest } from 'fastify';
import { Fault } from '../../../platform/fault.ts';
import { LOCAL_SHELL, LOCAL_SHELL_ACTOR } from '../members/local-shell.ts';
import type { KitDeps } from './kit-deps.ts';
import { readProjectId, type Who } from './enter.ts';
import type { RouteRules } from './route.ts';

/**
 * Identifies every caller of the local socket as the local shell, the owner of every project. It is mounted on that listener alone, so
 * nothing in a request over TCP leads here.
 */
export async function enterLocalShell(
  { access }: Pick<KitDeps, 'access'>,
  one: RouteRules,
  { params }: FastifyRequest,
): Promise<Who> {
  if (one.isAccount === true) throw hasNoAccount();
  const who: Who = {
    person: LOCAL_SHELL,
    role: 'owner',
    projectId: 0,
    actor: LOCAL_SHELL_ACTOR,
    actorName: LOCAL_SHELL.name,
    token: null,
  };
  const { project } = params as { project?: string };
  if (project === undefined) return who;
  const projectId = readProjectId(project);
  const role = projectId === 0 ? null : await access.roleIn(LOCAL_SHELL.id, projectId);
  if (role === null) throw new Fault('not_found');
  return { ...who, projectId, role };
}

function hasNoAccount(): Fault {
  const message =
    'The local shell has no account. Sign in to the dashboard, or run beckon login and use the token.';
  return new Fault('role_required', { details: [{ message }] });
}
