import http, { type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { type LocalSocket, serveLocalSocket } from '../local-socket.ts';
import type { ServerOptions } from '../options.ts';
import type { DashboardApi } from '../../modules/workspace/dashboard-api/mount.ts';
import type { NewId } from '../../platform/ids.ts';
import { Fault } from '../../platform/fault.ts';
import type { Log } from '../../platform/log.ts';
import { faultResponse } from '../../platform/http/answers.ts';
import { mountLiveness } from '../../modules/operations/metrics/endpoints.ts';
import {
  clientErrorHandler,
  continueWhenRead,
  refuseBody,
  standardHeaders,
} from '../../platform/http/refuse-request.ts';

/** `null`: it is off, or the path is too long. */
export async function openLocalShell(
  { localShell: path, log }: Pick<ServerOptions, 'localShell' | 'log'>,
  { api, newId }: { api: DashboardApi; newId: NewId },
): Promise<LocalSocket | null> {
  if (!path) return null;
  const server = await createLocalShellServer({ api, newId, log });
  const socket = serveLocalSocket({ path, log, createServer: () => server.createServer() });
  return {
    start: () => socket.start(),
    stop: async () => void (await Promise.all([socket.stop(), server.close()])),
  };
}

type LocalShellServer = {
  /** A server for one listener. A process opens a new one each time it takes the socket over. */
  createServer(): http.Server;
  close(): Promise<void>;
};

type Deps = { api: DashboardApi; newId: NewId; log: Log };

/**
 * Serves the dashboard API as the local shell, and `/livez`, over the local socket. It shares no Fastify instance and no listener with the
 * public server, so a request over TCP cannot become one of the local shell.
 */
async function createLocalShellServer({ api, newId, log }: Deps): Promise<LocalShellServer> {
  const app = Fastify({
    logger: false,
    routerOptions: { maxParamLength: 1_024 },
    genReqId: newId,
    exposeHeadRoutes: true,
    frameworkErrors: (_error, _request, reply) => void refuse(reply, new Fault('not_found')),
  });
  app.addHook('onSend', async (request, reply) => void reply.headers(standardHeaders(request.id, 'plain')));
  app.addHook('onRequest', async ({ raw }, reply) => {
    if (!isForwarded(raw.headers)) return undefined;
    refuseBody(raw, reply.raw);
    const message = `The local socket accepts no credentials, and no requests from browsers or proxies. Send them to PUBLIC_URL.`;
    return refuse(reply, new Fault('forbidden', { details: [{ message }] }));
  });
  app.setNotFoundHandler(({ raw }, reply) => {
    refuseBody(raw, reply.raw);
    return refuse(reply, new Fault('not_found'));
  });
  app.setErrorHandler((error, request, reply) => {
    log.error({ err: error, request_id: request.id, path: request.routeOptions.url }, 'request.failed');
    return refuse(reply, new Fault('server_error'));
  });
  mountLiveness(app);
  api.mountForLocalShell(app);
  await app.ready();
  return { createServer: () => serverFor(app, newId), close: () => app.close() };
}

/** As on the public server, `Expect` is answered by the routes. */
function serverFor(app: FastifyInstance, newId: NewId): http.Server {
  const handleRequest: RequestListener = (request, response) => app.routing(request, response);
  return http
    .createServer({ maxHeaderSize: 16 * 1024, requireHostHeader: false }, handleRequest)
    .on('checkExpectation', handleRequest)
    .on('checkContinue', (request: IncomingMessage, response: http.ServerResponse) => {
      continueWhenRead(request, response);
      handleRequest(request, response);
    })
    .on('clientError', clientErrorHandler({ newId }));
}

function refuse(reply: FastifyReply, fault: Fault): FastifyReply {
  const { status, headers, body } = faultResponse(fault);
  return reply.status(status).headers(headers).send(body);
}

const FOREIGN = ['authorization', 'cookie', 'forwarded', 'origin', 'proxy-authorization', 'via', 'x-real-ip'];
const FOREIGN_PREFIX = /^(?:sec-fetch-|x-forwarded-)/;

/**
 * Returns whether a browser or a proxy sent the request. A proxy that someone points at the socket by mistake would give its callers the
 * rights of an owner.
 */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => FOREIGN.includes(name) || FOREIGN_PREFIX.test(name));
}
