import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../../platform/fault.ts';
import { addEntry, beginEntry, dropEntry, endEntry } from '../audit/store.ts';
import type { AuditEntry } from '../audit/entry.ts';
import { listMemberships } from '../members/reads.ts';
import { localShellAccess } from '../members/local-shell.ts';
import type { SignedInMember } from '../members/team.ts';
import { NoConnection } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { checkJsonBodies } from '../../../platform/http/check-json.ts';
import { refuseBody } from '../../../platform/http/refuse-request.ts';
import { faultResponse } from '../../../platform/http/answers.ts';
import { type RequestValidator, checkBody, checkQuery } from './check-request.ts';
import type { RouteRequest, DashboardRoute, KitDeps, AuditNote, AuditRecorder, RouteRules } from './route.ts';
import { type Enter, enter, enterLocalShell, isStillIn, type CallerContext } from './enter.ts';
import { type ProjectClocks, projectClocks } from './project-clock.ts';
import {
  busy,
  costOf,
  createRequestGate,
  heavyFields,
  RequestEnded,
  type RequestGate,
} from './request-gate.ts';

/** One API, on two listeners that share its limits. */
export type DashboardApi = {
  /** For members, by session or personal token. */
  mount(app: FastifyInstance): void;
  /** For the local socket: every request is the local shell's. */
  mountForLocalShell(app: FastifyInstance): void;
};

/**
 * The dashboard's own API. A request is identified and authorized (`enter.ts`),
 * then validated. A change has its audit entry begun before it and completed after it. An API key is never accepted.
 */
export function createDashboardApi<D extends KitDeps>(
  baseDeps: D,
  routes: DashboardRoute<D>[],
): DashboardApi {
  const db = baseDeps.db.forPages({ cost: 'light' });
  const deps = { ...baseDeps, db };
  const shared = { gate: createRequestGate(baseDeps.db), clocks: projectClocks() };
  const access = localShellAccess(db, baseDeps.access);
  return {
    mount: (app) => mountRoutes(app, { ...deps, ...shared, enter }, routes),
    mountForLocalShell: (app) =>
      mountRoutes(app, { ...deps, ...shared, access, enter: enterLocalShell }, routes),
  };
}

function mountRoutes<D extends KitDeps>(
  app: FastifyInstance,
  deps: D & MountDeps,
  routes: DashboardRoute<D>[],
): void {
  // A feed never ends on its own, so it is ended before the server waits for connections.
  app.addHook('preClose', async () => deps.feeds.stop());
  void app.register(
    (scope, _options, done) => {
      scope.setErrorHandler((error: FastifyError, request, reply) => refuse(deps, { error, request, reply }));
      // Without this parser Fastify would refuse a body that is not JSON. Only raw routes accept it (`bodyOf`).
      scope.addContentTypeParser(
        'application/octet-stream',
        { parseAs: 'buffer' },
        (_request, bytes, done_) => done_(null, bytes),
      );
      checkJsonBodies(scope);
      for (const route of routes) mountRoute(scope, deps, route);
      done();
    },
    { prefix: '/api/dashboard' },
  );
}

const BODY_MAX_BYTES = 1024 * 1024;
/**
 * The limit on routes without a session. No rate limit slows a caller down before the body is read, and 20 bodies of 1 MiB stopped the
 * process for half a second. The longest valid form is that of `POST /setup`.
 */
const OPEN_BODY_MAX_BYTES = 16 * 1024;

type MountDeps = KitDeps & { gate: RequestGate; clocks: ProjectClocks; enter: Enter };

function mountRoute<D extends KitDeps>(
  scope: FastifyInstance,
  deps: D & MountDeps,
  route: DashboardRoute<D>,
): void {
  const [method = '', url = ''] = route.key.split(' ');
  const hasBody = method !== 'GET';
  const changes = hasBody && route.reads !== true;
  if (changes && route.audit === undefined)
    throw new Error(`${route.key}: a route that changes data needs an audit action`);
  const [query, body] = [checkQuery(route.query), checkBody(route.body)];
  const [cost, [field]] = [costOf(route), heavyFields(route)];
  scope.route({
    method,
    url,
    bodyLimit: route.bodyMaxBytes ?? (route.needs === 'anyone' ? OPEN_BODY_MAX_BYTES : BODY_MAX_BYTES),
    onRequest: async (request) => {
      callers.set(request, await deps.enter(deps, route, request));
    },
    handler: async (request, reply) => {
      const caller = callers.get(request);
      if (!caller) throw new Error('a request without authentication');
      requireStorable(request.params);
      const seen: AuditNote = {};
      const typed = {
        query: query(request.query),
        body: hasBody ? bodyOf(route, body, request.body) : undefined,
      };
      const input = {
        ...caller,
        params: request.params,
        ...typed,
        request,
        reply,
        note: (what: AuditNote) => Object.assign(seen, what),
        record: recordOf(deps, route),
        isStillIn: () => isStillIn(deps, { enter: deps.enter, route, caller, request }),
      } as unknown as RouteRequest<never>;
      // A change runs to its end, or its result would not be known. An open route may continue after its answer.
      const signal = changes || route.needs === 'anyone' ? undefined : endOf(reply);
      const key = caller.projectId === 0 ? (caller.member?.id ?? 'signed out') : caller.projectId;
      const gated = { route, key, cost: cost(typed), field, signal };
      return deps.gate(gated, (db) =>
        keepAudit(deps, { route, caller, seen }, async () =>
          orNoText(
            route.handle(await deps.clocks({ ...deps, db }, route.key, caller.projectId), input as never),
          ),
        ),
      );
    },
  });
}

/** Returns bytes for a raw route, and JSON for all others. */
function bodyOf(route: RouteRules, check: RequestValidator, body: unknown): unknown {
  const areBytes = Buffer.isBuffer(body);
  if (areBytes && route.isRaw !== true) throw new Fault('unsupported_media_type');
  if (areBytes || route.isRaw !== true) return areBytes ? body : check(body);
  const message = 'The body must be raw bytes, as application/octet-stream';
  throw new Fault('validation_failed', { details: [{ field: 'body', message }] });
}

/** Returns a signal that aborts when the request was answered or its client left. */
function endOf({ raw }: FastifyReply): AbortSignal {
  const ended = new AbortController();
  const end = (): void => ended.abort(new RequestEnded());
  if (raw.destroyed) end();
  else raw.once('close', end);
  return ended.signal;
}

/** Rejects NUL in a path: no name contains it, because the database cannot store it. */
function requireStorable(params: unknown): void {
  if (Object.values(params as Record<string, string>).some((value) => value.includes('\0')))
    throw new Fault('not_found');
}

/** PostgreSQL's error codes for NUL in text, and in JSON. */
const NO_TEXT = new Set<unknown>(['22021', '22P05']);

/** Rejects NUL anywhere else in a request: the database refuses it, and nothing is changed. */
async function orNoText(result: Promise<unknown>): Promise<unknown> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NO_TEXT.has(error.code))) throw error;
    const message = 'The request contains a NUL character';
    throw new Fault('validation_failed', { details: [{ message }], cause: error });
  }
}

const callers = new WeakMap<FastifyRequest, CallerContext>();

type Change = { route: RouteRules; caller: CallerContext; seen: AuditNote };

function keepAudit(deps: KitDeps, change: Change, handle: () => Promise<unknown>): Promise<unknown> {
  const { audit, needs } = change.route;
  return audit === undefined || needs === 'anyone' ? handle() : audited(deps, change, handle);
}

/** Writes the entry before the change, so a process that is killed in between leaves an entry that is only begun. */
async function audited(
  { db, newId, log }: KitDeps,
  { route, caller, seen }: Change,
  change: () => Promise<unknown>,
): Promise<unknown> {
  const { projectId, actor, actorName } = caller;
  const token = caller.token?.label ?? null;
  const at = new Date(db.clock.now());
  const owner = {
    organizationIds: projectId === 0 ? await organizationsOf(db, caller.member) : [],
    projectId,
  };
  const entry: AuditEntry = { ...owner, id: newId(), at, actor, actorName, token, action: route.audit ?? '' };
  const end = (): Promise<void> => endEntry(db, { ...entry, ...concerning(seen) });
  await beginEntry(db, entry);
  try {
    const result = await change();
    await end();
    return result;
  } catch (error) {
    // A refusal changed nothing, unless it says otherwise. The result of any other failure is unknown, so the entry stays as begun.
    if (error instanceof Fault)
      await (seen.hasChanged ? end() : dropEntry(db, entry)).catch((closeError: unknown) =>
        log.warn({ err: closeError }, 'audit_entry.not_closed'),
      );
    throw error;
  }
}

/** Records the actor at the end, because a sign-in identifies them only then. A failed sign-in has no actor, so it leaves no entry. */
function recordOf({ db, newId }: KitDeps, { audit = '' }: RouteRules): AuditRecorder {
  return async (tx, { by, ...what }) => {
    const at = new Date(db.clock.now());
    const author = { actor: `team:${by.id}`, actorName: by.name, token: null };
    const entry = { projectId: 0, organizationIds: await organizationsOf(tx, by), id: newId(), at };
    await addEntry(tx, { ...entry, ...author, action: audit, ...concerning(what) });
  };
}

/** Returns all organizations of a member at that time: each of them logs a change of the member's own account. */
async function organizationsOf(tx: Tx, member: Pick<SignedInMember, 'id'> | null): Promise<string[]> {
  return member ? (await listMemberships(tx, member.id)).map(({ id }) => id) : [];
}

function concerning({ organizationId, ...what }: AuditNote): AuditNote & { organizationIds?: string[] } {
  return organizationId === undefined ? what : { ...what, organizationIds: [organizationId] };
}

type Refused = { error: FastifyError; request: FastifyRequest; reply: FastifyReply };

function refuse({ log }: KitDeps, { error, request, reply }: Refused): FastifyReply {
  const fault = error instanceof Fault ? error : faultOf(error);
  if (error instanceof NoConnection)
    log.warn({ err: error, request_id: request.id, path: request.routeOptions.url }, 'request.no_connection');
  if (fault.code === 'server_error' && !(error instanceof RequestEnded))
    log.error({ err: error, request_id: request.id, path: request.routeOptions.url }, 'request.failed');
  const { status, headers, body } = faultResponse(fault);
  refuseBody(request.raw, reply.raw);
  return reply.status(status).headers(headers).send(body);
}

/** The fault of an error that Fastify or the database threw. */
function faultOf(error: FastifyError | NoConnection): Fault {
  if (error instanceof NoConnection)
    return busy('All database connections for the dashboard are in use.', error);
  const { statusCode } = error;
  if (statusCode === 413) return new Fault('payload_too_large');
  if (statusCode === 415) return new Fault('unsupported_media_type');
  return statusCode === 400 ? new Fault('bad_request') : new Fault('server_error');
}
