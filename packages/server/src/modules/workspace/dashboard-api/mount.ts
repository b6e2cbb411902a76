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
import { answerFault } from '../../../platform/http/answers.ts';
import { type RequestValidator, checkBody, checkQuery } from './check-request.ts';
import type { RouteRequest, DashboardRoute, KitDeps, Noted, Recording, RouteRules } from './route.ts';
import { type Enter, enter, enterLocalShell, isStillIn, type Who } from './enter.ts';
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
export function createDashboardApi<D extends KitDeps>(given: D, routes: DashboardRoute<D>[]): DashboardApi {
  const db = given.db.forPages({ cost: 'light' });
  const deps = { ...given, db };
  const shared = { gate: createRequestGate(given.db), clocks: projectClocks() };
  const access = localShellAccess(db, given.access);
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
      for (const one of routes) mountRoute(scope, deps, one);
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
  one: DashboardRoute<D>,
): void {
  const [method = '', url = ''] = one.key.split(' ');
  const hasBody = method !== 'GET';
  const changes = hasBody && one.reads !== true;
  if (changes && one.audit === undefined)
    throw new Error(`${one.key}: a route that changes data needs an audit action`);
  const [query, body] = [checkQuery(one.query), checkBody(one.body)];
  const [cost, [field]] = [costOf(one), heavyFields(one)];
  scope.route({
    method,
    url,
    bodyLimit: one.bodyMaxBytes ?? (one.needs === 'anyone' ? OPEN_BODY_MAX_BYTES : BODY_MAX_BYTES),
    onRequest: async (request) => {
      asking.set(request, await deps.enter(deps, one, request));
    },
    handler: async (request, reply) => {
      const who = asking.get(request);
      if (!who) throw new Error('a request without authentication');
      requireStorable(request.params);
      const seen: Noted = {};
      const typed = {
        query: query(request.query),
        body: hasBody ? bodyOf(one, body, request.body) : undefined,
      };
      const asked = {
        ...who,
        params: request.params,
        ...typed,
        request,
        reply,
        note: (what: Noted) => Object.assign(seen, what),
        record: recordOf(deps, one),
        isStillIn: () => isStillIn(deps, { enter: deps.enter, one, who, request }),
      } as unknown as RouteRequest<never>;
      // A change runs to its end, or its result would not be known. An open route may continue after its answer.
      const signal = changes || one.needs === 'anyone' ? undefined : endOf(reply);
      const key = who.projectId === 0 ? (who.person?.id ?? 'signed out') : who.projectId;
      const gated = { one, key, cost: cost(typed), field, signal };
      return deps.gate(gated, (db) =>
        keepAudit(deps, { one, who, seen }, async () =>
          orNoText(one.handle(await deps.clocks({ ...deps, db }, one.key, who.projectId), asked as never)),
        ),
      );
    },
  });
}

/** Returns bytes for a raw route, and JSON for all others. */
function bodyOf(one: RouteRules, check: RequestValidator, body: unknown): unknown {
  const areBytes = Buffer.isBuffer(body);
  if (areBytes && one.isRaw !== true) throw new Fault('unsupported_media_type');
  if (areBytes || one.isRaw !== true) return areBytes ? body : check(body);
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
async function orNoText(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NO_TEXT.has(error.code))) throw error;
    const message = 'The request contains a NUL character';
    throw new Fault('validation_failed', { details: [{ message }], cause: error });
  }
}

const asking = new WeakMap<FastifyRequest, Who>();

type Change = { one: RouteRules; who: Who; seen: Noted };

function keepAudit(deps: KitDeps, change: Change, handle: () => Promise<unknown>): Promise<unknown> {
  const { audit, needs } = change.one;
  return audit === undefined || needs === 'anyone' ? handle() : audited(deps, change, handle);
}

/** Writes the entry before the change, so a process that is killed in between leaves an entry that is only begun. */
async function audited(
  { db, newId, log }: KitDeps,
  { one, who, seen }: Change,
  change: () => Promise<unknown>,
): Promise<unknown> {
  const { projectId, actor, actorName } = who;
  const token = who.token?.label ?? null;
  const at = new Date(db.clock.now());
  const own = { organizationIds: projectId === 0 ? await organizationsOf(db, who.person) : [], projectId };
  const entry: AuditEntry = { ...own, id: newId(), at, actor, actorName, token, action: one.audit ?? '' };
  const end = (): Promise<void> => endEntry(db, { ...entry, ...concerning(seen) });
  await beginEntry(db, entry);
  try {
    const answer = await change();
    await end();
    return answer;
  } catch (error) {
    // A refusal changed nothing, unless it says otherwise. The result of any other failure is unknown, so the entry stays as begun.
    if (error instanceof Fault)
      await (seen.isDone ? end() : dropEntry(db, entry)).catch((trouble: unknown) =>
        log.warn({ err: trouble }, 'audit_entry.not_closed'),
      );
    throw error;
  }
}

/** Records the actor at the end, because a sign-in identifies them only then. A failed sign-in has no actor, so it leaves no entry. */
function recordOf({ db, newId }: KitDeps, { audit = '' }: RouteRules): Recording {
  return async (tx, { by, ...what }) => {
    const at = new Date(db.clock.now());
    const who = { actor: `team:${by.id}`, actorName: by.name, token: null };
    const own = { projectId: 0, organizationIds: await organizationsOf(tx, by), id: newId(), at };
    await addEntry(tx, { ...own, ...who, action: audit, ...concerning(what) });
  };
}

/** Returns all organizations of a member at that time: each of them logs a change of the member's own account. */
async function organizationsOf(tx: Tx, person: Pick<SignedInMember, 'id'> | null): Promise<string[]> {
  return person ? (await listMemberships(tx, person.id)).map(({ id }) => id) : [];
}

function concerning({ organizationId, ...what }: Noted): Noted & { organizationIds?: string[] } {
  return organizationId === undefined ? what : { ...what, organizationIds: [organizationId] };
}

type Refused = { error: FastifyError; request: FastifyRequest; reply: FastifyReply };

function refuse({ log }: KitDeps, { error, request, reply }: Refused): FastifyReply {
  const fault = error instanceof Fault ? error : faultOf(error);
  if (error instanceof NoConnection)
    log.warn({ err: error, request_id: request.id, path: request.routeOptions.url }, 'request.no_connection');
  if (fault.code === 'server_error' && !(error instanceof RequestEnded))
    log.error({ err: error, request_id: request.id, path: request.routeOptions.url }, 'request.failed');
  const { status, headers, body } = answerFault(fault);
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
