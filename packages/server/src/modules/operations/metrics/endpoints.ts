import http, { type Server } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Metrics } from './metrics.ts';
import type { Release } from '../../workspace/index.ts';

/** Reasons why this process should get no traffic now; empty if it is ready. */
type Readiness = () => Promise<string[]>;
export type HealthDeps = {
  readiness: Readiness;
  release: Release;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** /metrics is open to loopback peers unless it has a port of its own. */
  metricsHere: boolean;
};

export function mountHealth(app: FastifyInstance, deps: HealthDeps): void {
  mountLiveness(app);
  app.get('/readyz', async (_request, reply) => {
    const reasons = await deps.readiness();
    if (reasons.length === 0) return { data: { status: 'ready' } };
    const errors = reasons.map((message) => ({ code: 'server_error', message }));
    return reply.code(503).header('Retry-After', '1').send({ errors });
  });
  app.get('/version', () => ({ data: deps.release }));
  app.get('/metrics', async (request, reply) => {
    if (!deps.metricsHere || !isLocal(request)) return reply.callNotFound();
    return reply.type(deps.metrics.contentType).send(await deps.metrics.text());
  });
}

export function mountLiveness(app: FastifyInstance): void {
  app.get('/livez', () => ({ data: { status: 'live' } }));
}

/** A request through a proxy came from elsewhere, however near the proxy is. */
function isLocal(request: FastifyRequest): boolean {
  if (request.headers['x-forwarded-for'] !== undefined || request.headers.forwarded !== undefined)
    return false;
  const address = request.socket.remoteAddress ?? '';
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}

/** The server at METRICS_PORT. It serves only /metrics, for a scraper on a separate network. */
export function createMetricsServer(metrics: Pick<Metrics, 'text' | 'contentType'>): Server {
  return http.createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
}
