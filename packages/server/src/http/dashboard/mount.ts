import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../base/fault.ts';
import { createLine, type InLine } from '../../base/in-line.ts';
import { type AuditEntry, beginEntry, dropEntry, endEntry } from '../../features/audit/index.ts';
import type { Person } from '../../features/team/index.ts';
import { answerFault } from '../faults.ts';
import { type Check, checkBody, checkQuery } from './check.ts';
import type { DashboardDeps } from './deps.ts';
import { enter, isStillIn, type Who } from './enter.ts';
import { createFeeds } from './feeds.ts';
import { type ProjectClocks, projectClocks } from './project-clock.ts';
import type { Asked, DashboardRoute, RouteDeps } from './route.ts';

/**
 * The dashboard's own API. In this order: who asks, and may they (`enter.ts`) · is what they say well-formed · the audit entry,
 * opened before the change and closed behind it. An API key opens none of it.
 */
export function mountDashboard(app: FastifyInstance, given: DashboardDeps, routes: DashboardRoute[]): void {
  const deps = { ...given, feeds: given.feeds ?? createFeeds() };
  const line = createLine({ waitingMax: HEAVY_WAITING_MAX });
  const clocks = projectClocks();
  // Before connections are waited for: a feed has no end of its own.
  app.addHook('preClose', async () => deps.feeds.stop());
  void app.register(
    (scope, _options, done) => {
      scope.setErrorHandler((error: FastifyError, request, reply) => refuse(deps, { error, request, reply }));
      // Fastify would otherwise refuse what is no JSON; of the other routes none takes it (`bodyOf`).
      scope.addContentTypeParser(
        'application/octet-stream',
        { parseAs: 'buffer' },
        (_request, bytes, done_) => done_(null, bytes),
      );
      for (const one of routes) mountRoute(scope, { ...deps, line, clocks }, one);
      done();
    },
    { prefix: '/api/dashboard' },
  );
}

const BODY_MAX_BYTES = 1024 * 1024;
/** Each holds a connection of those that accepting and sending share, for as long as it goes on. */
const HEAVY_LANES = 2;
const HEAVY_WAITING_MAX = 40;
const BUSY_RETRY_S = 5;

type MountDeps = RouteDeps & { line: InLine; clocks: ProjectClocks };

function mountRoute(scope: FastifyInstance, deps: MountDeps, one: DashboardRoute): void {
  const [method = '', url = ''] = one.key.split(' ');
  const hasBody = method !== 'GET';
  const changes = hasBody && one.reads !== true;
  if (changes && one.audit === undefined) throw new Error(`${one.key}: what changes something is audited`);
  const [query, body] = [checkQuery(one.query), checkBody(one.body)];
  scope.route({
    method,
    url,
    bodyLimit: one.bodyMaxBytes ?? BODY_MAX_BYTES,
    onRequest: async (request) => {
      asking.set(request, await enter(deps, one, request));
    },
    handler: async (request, reply) => {
      const who = asking.get(request);
      if (!who) throw new Error('a request that nobody looked at');
      requireStorable(request.params);
      const seen: Noted = {};
      const asked = {
        ...who,
        params: request.params,
        query: query(request.query),
        body: hasBody ? bodyOf(one, body, request.body) : undefined,
        request,
        reply,
        note: (what: Noted) => Object.assign(seen, what),
        isStillIn: () => isStillIn(deps, { one, who, request }),
      } as unknown as Asked<never>;
      const handle = async (): Promise<unknown> =>
        one.handle(await deps.clocks(deps, one.key, who.projectId), asked as never);
      const handled = (): Promise<unknown> => keepAudit(deps, { one, who, seen }, handle);
      return one.isHeavy ? inTurn(deps.line, who.projectId, handled) : handled();
    },
  });
}

/** Bytes where they are asked for, and JSON everywhere else. */
function bodyOf(one: DashboardRoute, check: Check, body: unknown): unknown {
  const areBytes = Buffer.isBuffer(body);
  if (areBytes && one.isRaw !== true) throw new Fault('unsupported_media_type');
  if (areBytes || one.isRaw !== true) return areBytes ? body : check(body);
  const message = 'The body must be the bytes themselves, as application/octet-stream';
  throw new Fault('validation_failed', { details: [{ field: 'body', message }] });
}

/** By project, so that one that asks much waits for itself, and at most for half of the others. */
async function inTurn<T>(line: InLine, projectId: number, work: () => Promise<T>): Promise<T> {
  let isBegun = false;
  try {
    return await line(projectId % HEAVY_LANES, () => {
      isBegun = true;
      return work();
    });
  } catch (error) {
    throw isBegun ? error : new Fault('server_error', { retryAfterS: BUSY_RETRY_S, cause: error });
  }
}

/** No name of anything has this character in it, which the database cannot hold. */
function requireStorable(params: unknown): void {
  if (Object.values(params as Record<string, string>).some((value) => value.includes('\0')))
    throw new Fault('not_found');
}

type Noted = {
  by?: Pick<Person, 'id' | 'name'>;
  subject?: string;
  before?: unknown;
  after?: unknown;
};

const asking = new WeakMap<FastifyRequest, Who>();

type Change = { one: DashboardRoute; who: Who; seen: Noted };

function keepAudit(deps: DashboardDeps, change: Change, handle: () => Promise<unknown>): Promise<unknown> {
  const { audit, needs } = change.one;
  if (audit === undefined) return handle();
  return needs === 'anyone' ? auditedAfter(deps, change, handle) : audited(deps, change, handle);
}

/** The entry is there before the change: whoever is killed in between leaves one that says it was begun. */
async function audited(
  { db, newId, log }: DashboardDeps,
  { one, who, seen }: Change,
  change: () => Promise<unknown>,
): Promise<unknown> {
  const { projectId, actor, actorName } = who;
  const token = who.token?.label ?? null;
  const at = new Date(db.clock.now());
  const entry: AuditEntry = { projectId, id: newId(), at, actor, actorName, token, action: one.audit ?? '' };
  await beginEntry(db, entry);
  try {
    const answer = await change();
    await endEntry(db, { ...entry, ...seen });
    return answer;
  } catch (error) {
    // A refusal changed nothing. Of what failed in another way nobody knows, and the entry stays as it was begun.
    if (error instanceof Fault)
      await dropEntry(db, entry).catch((trouble: unknown) => log.warn({ err: trouble }, 'audit.not_dropped'));
    throw error;
  }
}

/** Who it was is known at the end, where somebody signs in; of somebody who does not come in, nobody did anything. */
async function auditedAfter(
  { db, newId }: DashboardDeps,
  { one, seen }: Change,
  change: () => Promise<unknown>,
): Promise<unknown> {
  const answer = await change();
  const { by, ...what } = seen;
  if (!by) return answer;
  const at = new Date(db.clock.now());
  const who = { actor: `team:${by.id}`, actorName: by.name, token: null };
  const entry: AuditEntry = { projectId: 0, id: newId(), at, ...who, action: one.audit ?? '' };
  await beginEntry(db, entry);
  await endEntry(db, { ...entry, ...what });
  return answer;
}

type Refused = { error: FastifyError; request: FastifyRequest; reply: FastifyReply };

function refuse({ log }: DashboardDeps, { error, request, reply }: Refused): FastifyReply {
  const fault = error instanceof Fault ? error : faultOf(error);
  if (fault.code === 'server_error')
    log.error({ err: error, request_id: request.id, path: request.routeOptions.url }, 'request.failed');
  const { status, headers, body } = answerFault(fault);
  return reply.status(status).headers(headers).send(body);
}

/** What Fastify itself says of a body. */
function faultOf({ statusCode }: FastifyError): Fault {
  if (statusCode === 413) return new Fault('payload_too_large');
  if (statusCode === 415) return new Fault('unsupported_media_type');
  return statusCode === 400 ? new Fault('bad_request') : new Fault('server_error');
}
