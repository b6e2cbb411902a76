import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { Fault } from '../../platform/fault.ts';
import { faultResponse, writeResponse } from '../../platform/http/answers.ts';
import {
  authenticate,
  type Call,
  type HttpDeps,
  createIngest,
  createLargeBodies,
} from '../../modules/ingest/index.ts';
import { INGEST_ENDPOINTS } from '../../modules/ingest/api/endpoints.ts';
import { createEdgeServer, type EdgeConfig } from './edge.ts';
import { type HealthDeps, mountHealth } from '../../modules/operations/metrics/endpoints.ts';
import { mountReference } from '../../modules/ingest/reference/routes.ts';
import { clientErrorHandler, refuseBody, standardHeaders } from '../../platform/http/refuse-request.ts';
import { transportOf } from '../../platform/http/transport.ts';

export type HttpServerOptions = {
  edge: EdgeConfig;
  health: HealthDeps;
  publicUrl: string;
  /** Pages for the recipients of emails, beside the API. */
  mounts?: readonly ((app: FastifyInstance) => void)[];
};

/**
 * Creates the server with its routes. Fastify finds the route and manages the server's life cycle; the ingest endpoints answer through
 * their own pipeline.
 */
export async function createHttpServer(deps: HttpDeps, options: HttpServerOptions): Promise<FastifyInstance> {
  const edge = { rules: deps.transport, newId: deps.newId, log: deps.log };
  const app = Fastify({
    logger: false,
    // An id of a user is part of the path, and may be longer than Fastify expects.
    routerOptions: { maxParamLength: 1_024 },
    genReqId: deps.newId,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: clientErrorHandler(edge),
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      refuseRequest(deps, { request: request.raw, response: reply.raw }, new Fault('not_found'));
    },
    serverFactory: (listener) => createEdgeServer(options.edge, edge, listener as RequestListener),
  });
  app.addHook('onSend', async (request, reply) => {
    const kept = reply.getHeader('cache-control');
    reply.headers(standardHeaders(request.id, transportOf(deps.transport, request.raw)));
    if (kept !== undefined) reply.header('cache-control', kept);
  });
  app.setErrorHandler((error, request, reply) => {
    deps.log.error({ err: error, request_id: request.id, path: request.routeOptions.url }, 'request.failed');
    reply.hijack();
    refuseRequest(deps, { request: request.raw, response: reply.raw }, new Fault('server_error'));
  });
  mountIngest(app, { ...deps, hasPages: (options.mounts ?? []).length > 0 });
  mountHealth(app, options.health);
  mountReference(app, { publicUrl: options.publicUrl, version: options.health.release.version });
  for (const mount of options.mounts ?? []) mount(app);
  await app.ready();
  return app;
}

/** Resources that only the dashboard serves, with a session. An API key opens none of them, whatever the method. */
const DASHBOARD_ONLY = /^\/api\/v1\/(?:drafts|audiences|sequences|rules|keys|imports)(?:\/.*)?$/;

function mountIngest(app: FastifyInstance, deps: HttpDeps & { hasPages: boolean }): void {
  const paths = new Set(INGEST_ENDPOINTS.map((endpoint) => endpoint.path));
  const largeBodies = createLargeBodies();
  for (const endpoint of INGEST_ENDPOINTS) {
    const ingest = createIngest(deps, endpoint, largeBodies);
    app.route({
      method: 'POST',
      url: endpoint.path,
      // Before Fastify reads the body: our order of checks begins with the key, and ends with our own answer.
      onRequest: (request, reply) => {
        reply.hijack();
        ingest(request.raw, reply.raw).catch(() => reply.raw.destroy());
      },
      handler: () => {},
    });
  }
  // The path must be checked before unknown methods and malformed bodies, so all other requests are answered here.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || (deps.hasPages && isPageRequest(request))) return done();
    reply.hijack();
    const raw = { request: request.raw, response: reply.raw };
    const path = request.url.split('?', 1)[0] ?? '';
    if (paths.has(path)) refuseRequest(deps, raw, new Fault('method_not_allowed'));
    else if (DASHBOARD_ONLY.test(path)) refuseForeign(deps, raw).catch(() => reply.raw.destroy());
    else refuseRequest(deps, raw, new Fault('not_found'));
  });
}

/** A browser that opens an unknown path. The dashboard answers it with a page, and everything else gets JSON. */
function isPageRequest({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !url.startsWith('/api/') && headers.accept?.includes('text/html') === true;
}

type Raw = { request: IncomingMessage; response: ServerResponse };

async function refuseForeign(deps: HttpDeps, raw: Raw): Promise<void> {
  const call: Call = { ...raw, id: deps.newId(), headers: [], key: null, keyIsFresh: false };
  try {
    await authenticate(deps, call);
    refuseRequest(deps, raw, new Fault('forbidden'));
  } catch (error) {
    refuseRequest(deps, raw, error);
  }
}

function refuseRequest(deps: HttpDeps, { request, response }: Raw, error: unknown): void {
  const { status, headers, body } = faultResponse(error);
  refuseBody(request, response);
  const https = transportOf(deps.transport, request) === 'https';
  const payload = { status, body: JSON.stringify(body), headers: Object.entries(headers).flat(), https };
  writeResponse(response, deps.newId(), payload);
}
