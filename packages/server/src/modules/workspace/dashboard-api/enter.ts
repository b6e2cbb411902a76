import { allows, type Role, type TokenScope } from '@beckon/contract/dashboard';
import type { FastifyRequest } from 'fastify';
import type { KitDeps, RouteRules } from './route.ts';
import { LOCAL_SHELL, LOCAL_SHELL_ACTOR } from '../members/local-shell.ts';
import type { SignedInMember } from '../members/team.ts';
import { findHolder } from '../tokens/find-holder.ts';
import type { HeldToken } from '../tokens/token.ts';
import { Fault } from '../../../platform/fault.ts';

/** The caller and their role. Open routes have no known caller; their role is not used. */
export type Who = {
  person: SignedInMember | null;
  role: Role;
  projectId: number;
  actor: string;
  actorName: string;
  /** The token of the request; null for a session. */
  token: HeldToken | null;
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
export async function enter(deps: KitDeps, one: RouteRules, request: FastifyRequest): Promise<Who> {
  const bearer = readBearer(request);
  if (needsOwnPage(one, request, bearer)) requireOwnPage(deps, request);
  if (one.needs === 'anyone') return { ...ANONYMOUS, person: await signedIn(deps, request, bearer) };
  const token = bearer === null ? null : await requireToken(deps, bearer);
  const person = token
    ? { ...token.person, sessionId: '', confirmedAt: null }
    : await deps.access.who(request.headers);
  if (!person) throw new Fault('session_required');
  const who = { ...ANONYMOUS, person, token, actor: `team:${person.id}`, actorName: person.name };
  const { project } = request.params as { project?: string };
  if (project === undefined) {
    requireScope(one, token);
    if (one.needsConfirmation) requireConfirmed(person, deps.db.clock.now());
    return who;
  }
  const projectId = readProjectId(project);
  const role = projectId === 0 ? null : await deps.access.roleIn(person.id, projectId);
  // A project of others is answered as not found, so the caller learns nothing about it.
  if (role === null) throw new Fault('not_found');
  requireScope(one, token);
  requireRole(one, role);
  return { ...who, projectId, role: token ? least(role, roleOfToken(one, token)) : role };
}

/** Decides who a caller is, and whether they may use the route. Each listener has one. */
export type Enter = (deps: KitDeps, one: RouteRules, request: FastifyRequest) => Promise<Who>;

/** Returns 0 if the text is not the id of a project. */
function readProjectId(text: string): number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
}

type Entered = { enter: Enter; one: RouteRules; who: Who; request: FastifyRequest };

/** Returns whether the caller would be admitted again now. Throws if the database does not answer. */
export async function isStillIn(
  deps: KitDeps,
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

const ANONYMOUS: Who = { person: null, role: 'viewer', projectId: 0, actor: '', actorName: '', token: null };

/**
 * The highest role that the scopes of a token amount to. It decides what is shown: links of emails stay redacted for a
 * read-only token, whatever the role of its member.
 */
function roleOfToken(one: RouteRules, { scopes }: HeldToken): Role {
  // `import` opens routes of editors, but shows no more than `read` on any other.
  const ofOthers = scopes.filter((scope) => scope !== 'import').map(roleOf);
  return [roleOf(scopeOf(one)), ...ofOthers].reduce(greatest);
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

function greatest(one: Role, other: Role): Role {
  return allows(one, other) ? one : other;
}

function least(one: Role, other: Role): Role {
  return allows(one, other) ? other : one;
}

/** Other schemes belong to a proxy with a password of its own in front of the dashboard. */
function readBearer({ headers }: FastifyRequest): string | null {
  const [scheme = '', ...rest] = (headers.authorization ?? '').split(' ');
  return scheme.toLowerCase() === 'bearer' ? rest.join(' ').trim() : null;
}

/** Programs have no page. A request that names its origin, as all browsers do, must still come from our page. */
function needsOwnPage(one: RouteRules, { headers }: FastifyRequest, bearer: string | null): boolean {
  if (one.key.startsWith('GET ')) return false;
  const isFromPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  if (one.needs === 'anyone') return one.isForPrograms !== true || isFromPage;
  return bearer === null;
}

/** A page of another origin can have a browser send its cookies, but not claim our origin. */
function requireOwnPage({ transport }: KitDeps, { headers }: FastifyRequest): void {
  if (headers.origin === transport.publicOrigin) return;
  const message = `The request did not come from the dashboard at ${transport.publicOrigin}. Open it there`;
  throw new Fault('role_required', { details: [{ message }] });
}

async function signedIn(
  { access }: KitDeps,
  { headers }: FastifyRequest,
  bearer: string | null,
): Promise<SignedInMember | null> {
  return bearer === null ? access.who(headers) : null;
}

/** An API key is not a token, and neither is an expired one: all get the same answer. */
async function requireToken(deps: KitDeps, bearer: string): Promise<HeldToken> {
  const held = await findHolder(deps, bearer);
  if (held) return held;
  const message =
    'The personal token is not valid: it was revoked, has expired, or is an API key, which opens only the public API. Run beckon login to get a new one.';
  throw new Fault('session_required', { details: [{ message }] });
}

function requireScope(one: RouteRules, token: HeldToken | null): void {
  if (!token) return;
  const scope = scopeOf(one);
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
