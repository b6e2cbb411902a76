import type { FastifyRequest } from 'fastify';
import { allows, type Role, type TokenScope } from '@beckon/contract/dashboard';
import { Fault } from '../../base/fault.ts';
import { type Person, requireConfirmed } from '../../features/team/index.ts';
import { findHolder, type HeldToken } from '../../features/tokens/index.ts';
import type { DashboardDeps } from './deps.ts';
import type { DashboardRoute } from './route.ts';

/** Who asks, and as what. Of open routes nobody need be known; they get a role that nobody looks at. */
export type Who = {
  person: Person | null;
  role: Role;
  projectId: number;
  actor: string;
  actorName: string;
  /** By which they came in; null: they are signed in. */
  token: HeldToken | null;
};

/**
 * In this order: is it our page that asks, where something is to change · who is it · is the project one of theirs · is their
 * token good for this · is their role. A request with a token stands for nobody else, whatever cookies it carries: a page
 * cannot have a browser send one.
 */
export async function enter(deps: DashboardDeps, one: DashboardRoute, request: FastifyRequest): Promise<Who> {
  const bearer = readBearer(request);
  if (needsOwnPage(one, request, bearer)) requireOwnPage(deps, request);
  if (one.needs === 'anyone') return { ...NOBODY, person: await signedIn(deps, request, bearer) };
  const token = bearer === null ? null : await requireToken(deps, bearer);
  const person = token
    ? { ...token.person, sessionId: '', confirmedAt: null }
    : await deps.access.who(request.headers);
  if (!person) throw new Fault('session_required');
  const who = { ...NOBODY, person, token, actor: `team:${person.id}`, actorName: person.name };
  const { project } = request.params as { project?: string };
  if (project === undefined) {
    requireScope(one, token);
    if (one.needsConfirmation) requireConfirmed(person, deps.db.clock.now());
    return who;
  }
  const projectId = readProjectId(project);
  const role = projectId === 0 ? null : await deps.access.roleIn(person.id, projectId);
  // What is not theirs is not there: whoever asks learns nothing of other projects.
  if (role === null) throw new Fault('not_found');
  requireScope(one, token);
  requireRole(one, role);
  return { ...who, projectId, role: token ? least(role, roleOf(scopeOf(one))) : role };
}

/** Decides who a caller is, and whether they may use the route. Each listener has one. */
export type Enter = (deps: DashboardDeps, one: DashboardRoute, request: FastifyRequest) => Promise<Who>;

/** 0 where the text is no id of a project. */
export function readProjectId(text: string): number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
}

export type Entered = { enter: Enter; one: DashboardRoute; who: Who; request: FastifyRequest };

/** Whether a caller who was let in would be let in again now. Throws where the database does not answer. */
export async function isStillIn(
  deps: DashboardDeps,
  { enter: enterAgain, one, who, request }: Entered,
): Promise<boolean> {
  try {
    const now = await enterAgain(deps, one, request);
    return now.person?.id === who.person?.id && now.token?.id === who.token?.id;
  } catch (error) {
    if (error instanceof Fault && error.code !== 'server_error') return false;
    throw error;
  }
}

/** What a token must be good for; what says nothing of it opens to `read` where any viewer may read in the project. */
function scopeOf({ key, needs, reads, scope }: DashboardRoute): TokenScope | 'any' | null {
  if (scope !== undefined) return scope;
  const isReading = key.startsWith('GET ') || reads === true;
  return isReading && needs === 'viewer' ? 'read' : null;
}

const NOBODY: Who = { person: null, role: 'viewer', projectId: 0, actor: '', actorName: '', token: null };

/** A program with a token never acts as more than what it does takes: what only editors are shown, it is not shown. */
function roleOf(scope: TokenScope | 'any' | null): Role {
  switch (scope) {
    case 'review':
      return 'reviewer';
    case 'import':
      return 'editor';
    case 'read':
    case 'any':
    case null:
      return 'viewer';
    default:
      return scope satisfies never;
  }
}

function least(one: Role, other: Role): Role {
  return allows(one, other) ? other : one;
}

/** Other schemes are a proxy's, which asks for a password of its own in front of the dashboard. */
function readBearer({ headers }: FastifyRequest): string | null {
  const [scheme = '', ...rest] = (headers.authorization ?? '').split(' ');
  return scheme.toLowerCase() === 'bearer' ? rest.join(' ').trim() : null;
}

/** Programs have no page; whoever says where it comes from, as all browsers do, is held to it all the same. */
function needsOwnPage(one: DashboardRoute, { headers }: FastifyRequest, bearer: string | null): boolean {
  if (one.key.startsWith('GET ')) return false;
  const isFromPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  if (one.needs === 'anyone') return one.isForPrograms !== true || isFromPage;
  return bearer === null;
}

/** A page of another origin can have a browser send its cookies, but not say that it is ours. */
function requireOwnPage({ transport }: DashboardDeps, { headers }: FastifyRequest): void {
  if (headers.origin === transport.publicOrigin) return;
  const message = `This was not asked by the dashboard at ${transport.publicOrigin}: open it there`;
  throw new Fault('role_required', { details: [{ message }] });
}

async function signedIn(
  { access }: DashboardDeps,
  { headers }: FastifyRequest,
  bearer: string | null,
): Promise<Person | null> {
  return bearer === null ? access.who(headers) : null;
}

/** An API key is none, and neither is a token that has ended: all are answered alike. */
async function requireToken(deps: DashboardDeps, bearer: string): Promise<HeldToken> {
  const held = await findHolder(deps, bearer);
  if (held) return held;
  const message =
    'This is no personal token that is live: it was revoked, has expired, or is an API key, which opens the public API only. Get one with beckon login';
  throw new Fault('session_required', { details: [{ message }] });
}

function requireScope(one: DashboardRoute, token: HeldToken | null): void {
  if (!token) return;
  const scope = scopeOf(one);
  if (scope === 'any' || (scope !== null && token.scopes.includes(scope))) return;
  const message =
    scope === null
      ? 'No personal token opens this: do it in the dashboard'
      : `This token lacks the scope ${scope}: get one that has it with beckon login`;
  throw new Fault('role_required', { details: [{ message }] });
}

function requireRole({ needs }: DashboardRoute, role: Role): void {
  if (needs === 'anyone' || needs === 'signed_in' || allows(role, needs)) return;
  const message = `Your role, ${role}, does not allow this: it needs ${needs}`;
  throw new Fault('role_required', { details: [{ message }] });
}
