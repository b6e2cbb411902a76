import { allows, type Role, type TokenScope } from '@beckon/contract/dashboard';
import type { FastifyRequest } from 'fastify';
import type { KitDeps, RouteRules } from './route.ts';
import { LOCAL_SHELL, LOCAL_SHELL_ACTOR } from '../members/local-shell.ts';
import type { SignedInMember } from '../members/team.ts';
import { findHolder } from '../tokens/find-holder.ts';
import type { PersonalToken } from '../tokens/token.ts';
import { Fault } from '../../../platform/fault.ts';

/** The caller and their role. Open routes have no known caller; their role is not used. */
export type CallerContext = {
  member: SignedInMember | null;
  role: Role;
  projectId: number;
  actor: string;
  actorName: string;
  /** The token of the request; null for a session. */
  token: PersonalToken | null;
};

/**
 * Checks in this order:
 * - for a change, that the request comes from our page
 * - the caller
 * - that the project is one of theirs
 * - the scope of their token
 * - their role
 *
 * A request with a token acts for that token's member alone, whatever cookies it carries: a page cannot have a browser send a token.
 */
export async function enter(
  deps: KitDeps,
  route: RouteRules,
  request: FastifyRequest,
): Promise<CallerContext> {
  const bearer = readBearer(request);
  if (needsDashboardOrigin(route, request, bearer)) requireDashboardOrigin(deps, request);
  if (route.needs === 'anyone') return { ...ANONYMOUS, member: await signedIn(deps, request, bearer) };
  const token = bearer === null ? null : await requireToken(deps, bearer);
  const member = token
    ? { ...token.member, sessionId: '', confirmedAt: null }
    : await deps.access.findMember(request.headers);
  if (!member) throw new Fault('session_required');
  const caller = { ...ANONYMOUS, member, token, actor: `team:${member.id}`, actorName: member.name };
  const { project } = request.params as { project?: string };
  if (project === undefined) {
    requireScope(route, token);
    if (route.needsConfirmation) requireConfirmed(member, deps.db.clock.now());
    return caller;
  }
  const projectId = readProjectId(project);
  const role = projectId === 0 ? null : await deps.access.roleIn(member.id, projectId);
  // A project of others is answered as not found, so the caller learns nothing about it.
  if (role === null) throw new Fault('not_found');
  requireScope(route, token);
  requireRole(route, role);
  return { ...caller, projectId, role: token ? least(role, roleOfToken(route, token)) : role };
}

/** Decides who a caller is, and whether they may use the route. Each listener has one. */
export type Enter = (deps: KitDeps, route: RouteRules, request: FastifyRequest) => Promise<CallerContext>;

/** Returns 0 if the text is not the id of a project. */
function readProjectId(text: string): number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
}

type Admission = { enter: Enter; route: RouteRules; caller: CallerContext; request: FastifyRequest };

/** Returns whether the caller would be admitted again now. Throws if the database does not answer. */
export async function isStillIn(
  deps: KitDeps,
  { enter: enterAgain, route, caller, request }: Admission,
): Promise<boolean> {
  try {
    const now = await enterAgain(deps, route, request);
    return now.member?.id === caller.member?.id && now.token?.id === caller.token?.id;
  } catch (error) {
    if (error instanceof Fault && error.code !== 'server_error') return false;
    throw error;
  }
}

/** Returns the scope that opens a route to a personal token: the scope of its least role, unless the route names another. */
function scopeOf({ needs, scope, isAccount }: RouteRules): TokenScope | 'any' | null {
  if (scope !== undefined) return scope;
  if (isAccount === true) return null;
  switch (needs) {
    case 'viewer':
      return 'read';
    case 'reviewer':
      return 'review';
    case 'editor':
      return 'edit';
    case 'admin':
    case 'owner':
      return 'admin';
    case 'anyone':
    case 'signed_in':
      return null;
    default:
      return needs satisfies never;
  }
}

const ANONYMOUS: CallerContext = {
  member: null,
  role: 'viewer',
  projectId: 0,
  actor: '',
  actorName: '',
  token: null,
};

/**
 * The highest role that the scopes of a token amount to. It decides what is shown: links of emails stay redacted for a
 * read-only token, whatever the role of its member.
 */
function roleOfToken(route: RouteRules, { scopes }: PersonalToken): Role {
  // `import` opens routes of editors, but shows no more than `read` on any other.
  const ofOthers = scopes.filter((scope) => scope !== 'import').map(roleOf);
  return [roleOf(scopeOf(route)), ...ofOthers].reduce(greatest);
}

function roleOf(scope: TokenScope | 'any' | null): Role {
  switch (scope) {
    case 'admin':
      return 'owner';
    case 'edit':
    case 'import':
      return 'editor';
    case 'review':
      return 'reviewer';
    case 'read':
    case 'any':
    case null:
      return 'viewer';
    default:
      return scope satisfies never;
  }
}

function greatest(role: Role, other: Role): Role {
  return allows(role, other) ? role : other;
}

function least(role: Role, other: Role): Role {
  return allows(role, other) ? other : role;
}

/** Other schemes belong to a proxy with a password of its own in front of the dashboard. */
function readBearer({ headers }: FastifyRequest): string | null {
  const [scheme = '', ...rest] = (headers.authorization ?? '').split(' ');
  return scheme.toLowerCase() === 'bearer' ? rest.join(' ').trim() : null;
}

/** Programs have no page. A request that names its origin, as all browsers do, must still come from our page. */
function needsDashboardOrigin(
  route: RouteRules,
  { headers }: FastifyRequest,
  bearer: string | null,
): boolean {
  if (route.key.startsWith('GET ')) return false;
  const isFromPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  if (route.needs === 'anyone') return route.isForPrograms !== true || isFromPage;
  return bearer === null;
}

/** A page of another origin can have a browser send its cookies, but not claim our origin. */
function requireDashboardOrigin({ transport }: KitDeps, { headers }: FastifyRequest): void {
  if (headers.origin === transport.publicOrigin) return;
  const message = `The request did not come from the dashboard at ${transport.publicOrigin}. Open it there`;
  throw new Fault('role_required', { details: [{ message }] });
}

async function signedIn(
  { access }: KitDeps,
  { headers }: FastifyRequest,
  bearer: string | null,
): Promise<SignedInMember | null> {
  return bearer === null ? access.findMember(headers) : null;
}

/** An API key is not a token, and neither is an expired one: all get the same answer. */
async function requireToken(deps: KitDeps, bearer: string): Promise<PersonalToken> {
  const held = await findHolder(deps, bearer);
  if (held) return held;
  const message =
    'The personal token is not valid: it was revoked, has expired, or is an API key, which opens only the public API. Run beckon login to get a new one.';
  throw new Fault('session_required', { details: [{ message }] });
}

function requireScope(route: RouteRules, token: PersonalToken | null): void {
  if (!token) return;
  const scope = scopeOf(route);
  if (scope === 'any' || (scope !== null && token.scopes.includes(scope))) return;
  const message =
    scope === null
      ? 'Personal tokens do not open this route. Use the dashboard.'
      : `This token lacks the scope ${scope}. Run beckon login and select it.`;
  throw new Fault('role_required', { details: [{ message }] });
}

function requireRole({ needs }: RouteRules, role: Role): void {
  if (needs === 'anyone' || needs === 'signed_in' || allows(role, needs)) return;
  const message = `Your role is ${role}. This needs the role ${needs}.`;
  throw new Fault('role_required', { details: [{ message }] });
}

/**
 * Before a sign-in method is added to an account, its member has to prove their identity again. A session alone does not suffice, because a
 * stolen one could create a passkey or a token that outlives it (ASVS 7.5.1). Signing in counts, for as long as a confirmation does.
 */
const VALID_FOR_MS = 10 * 60_000;

function requireConfirmed({ confirmedAt }: { confirmedAt: Date | null }, now: number): void {
  const isRecent = confirmedAt !== null && now - confirmedAt.getTime() < VALID_FOR_MS;
  if (!isRecent) throw new Fault('confirmation_required');
}

/**
 * Identifies every caller of the local socket as the local shell, the owner of every project. It is mounted on that listener alone, so
 * nothing in a request over TCP leads here.
 */
export async function enterLocalShell(
  { access }: Pick<KitDeps, 'access'>,
  route: RouteRules,
  { params }: FastifyRequest,
): Promise<CallerContext> {
  if (route.isAccount === true) throw hasNoAccount();
  const caller: CallerContext = {
    member: LOCAL_SHELL,
    role: 'owner',
    projectId: 0,
    actor: LOCAL_SHELL_ACTOR,
    actorName: LOCAL_SHELL.name,
    token: null,
  };
  const { project } = params as { project?: string };
  if (project === undefined) return caller;
  const projectId = readProjectId(project);
  const role = projectId === 0 ? null : await access.roleIn(LOCAL_SHELL.id, projectId);
  if (role === null) throw new Fault('not_found');
  return { ...caller, projectId, role };
}

function hasNoAccount(): Fault {
  const message =
    'The local shell has no account. Sign in to the dashboard, or run beckon login and use the token.';
  return new Fault('role_required', { details: [{ message }] });
}
