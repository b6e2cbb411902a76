import { RATE_LIMIT_DEFAULTS } from '@beckon/contract';
import type { FastifyInstance } from 'fastify';
import type { Server as HttpsServer } from 'node:https';
import { createRedirectServer, reloadCertificate } from './http/edge.ts';
import { openLocalShell } from './http/local-shell-server.ts';
import { createHttpServer } from './http/server.ts';
import { closed, listening, listens, portOf } from './listening.ts';
import { type ProcessMetrics, countsOf } from './merged-counts.ts';
import { meteredLog } from './metered.ts';
import type { ServerOptions } from './options.ts';
import { mountPeople, openDashboardApi, openTeam } from './wire-dashboard.ts';
import { mountPages, wireMailIn } from './wire-emails.ts';
import { INGEST_QUEUE_CHANNEL, startWorker } from './wire-worker.ts';
import {
  createAccept,
  type HttpDeps,
  keyring,
  keyUse,
  warningCounter,
  requestLog,
} from '../modules/ingest/index.ts';
import { watchDatabase } from '../modules/operations/metrics/database.ts';
import { createMetricsServer, type HealthDeps } from '../modules/operations/metrics/endpoints.ts';
import { watchEmbedded } from '../modules/operations/metrics/machine.ts';
import { createMetrics, type Metrics } from '../modules/operations/metrics/metrics.ts';
import { mountSandbox } from '../modules/sandbox/public-routes.ts';
import { createTrackingHosts } from '../modules/sending/index.ts';
import { createFeeds } from '../modules/workspace/index.ts';
import { createLifecycle, type Lifecycle } from '../platform/async/lifecycle.ts';
import { type Database, openDatabase } from '../platform/db/database.ts';
import { createNotifier } from '../platform/db/notifications.ts';
import { createAddressGuard } from '../platform/http/address-guard.ts';
import { createBodyShares } from '../platform/http/body.ts';
import { transportRules } from '../platform/http/transport.ts';
import { idMaker } from '../platform/ids.ts';
import { readProjectLock } from '../platform/locks/project-lock.ts';
import type { Log } from '../platform/log.ts';
import { createCounter } from '../platform/rate-limits/counter.ts';

export type RunningServer = {
  /** The ports on which it listens; the system chose those configured as 0. */
  ports: { http: number | null; redirect: number | null; metrics: number | null; mailIn: number | null };
  /** Reads the certificate files again, for new connections. Throws, and changes nothing, if they do not match. */
  reloadCertificate(): void;
  /** Returns the counts of this process, to be added to those of others. */
  counts(): Promise<ProcessMetrics>;
  /** A log whose entries are counted. */
  log: Log;
  /** Accepts no new connection, answers requests in progress, and loses nothing. */
  stop(): Promise<void>;
};

/** Wires all dependencies. No other function decides which part gets what. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const life = createLifecycle(options.log, options.failpoint);
  try {
    return await wire(options, life);
  } catch (error) {
    await life.stop();
    throw error;
  }
}

async function wire(serverOptions: ServerOptions, life: Lifecycle): Promise<RunningServer> {
  const metrics = createMetrics(serverOptions.release);
  life.onStop('metrics of the process', () => metrics.stop());
  const options = { ...serverOptions, log: meteredLog(serverOptions.log, metrics.countLogLine) };
  const { clock, log, connection, namedStatements, roles, failpoint } = options;
  const db = await openDatabase({ connection, clock, log, namedStatements, failpoint });
  life.onStop('database', () => db.close());
  watchDatabase(metrics.registry, { db, log });
  if (options.embedded) watchEmbedded(metrics.registry, options.embedded, clock);
  const worker = roles.has('worker') ? await startWorker(options, { db, life, metrics }) : null;
  const wake = worker ? () => worker.wake() : notifyWorkers(options, { db, life });
  const api = roles.has('api') ? await startApi(options, { db, life, metrics, wake }) : NO_API;
  const mail = { db, life, newId: idMaker(clock) };
  const mailIn = roles.has('mail-in') ? await wireMailIn(options, mail) : null;
  const ports = {
    http: api.http,
    redirect: api.redirect,
    mailIn: mailIn?.port ?? null,
    metrics: await startMetrics(options, { life, metrics }),
  };
  // Opened last, so stopped first: while requests in progress are answered, no new work begins.
  if (worker) life.onStop('taking up work', () => void worker.stop());
  const reloadCertificate = (): void => {
    api.reloadCertificate();
    mailIn?.reloadCertificate();
  };
  return { ports, reloadCertificate, log, counts: () => countsOf(metrics), stop: () => life.stop() };
}

/** Without a worker in this process, workers in other processes are notified, at most this often. */
const NOTIFY_EVERY_MS = 20;

function notifyWorkers({ log }: ServerOptions, { db, life }: Pick<Parts, 'db' | 'life'>): () => void {
  const notifier = createNotifier({ db, channel: INGEST_QUEUE_CHANNEL, everyMs: NOTIFY_EVERY_MS, log });
  life.onStop('notifier', () => notifier.stop());
  return () => notifier.notify();
}

type Parts = { db: Database; life: Lifecycle; metrics: Metrics; wake: () => void };

type Api = { http: number | null; redirect: number | null; reloadCertificate: () => void };
const NO_API: Api = { http: null, redirect: null, reloadCertificate: () => {} };

async function startApi(options: ServerOptions, parts: Parts): Promise<Api> {
  const { life } = parts;
  const { listen, release } = options;
  const deps = httpDeps(options, parts);
  const health = {
    readiness: () => readiness(parts.db),
    release,
    metrics: exposedMetrics(options, parts.metrics),
    metricsHere: listen.metricsPort === null,
  };
  const feeds = createFeeds();
  const api = openDashboardApi(options, { ...parts, ...deps, team: openTeam(options, parts), feeds });
  const mounts = [
    ...mountPages(options, { ...parts, ...deps }),
    (app: FastifyInstance) => mountSandbox(app, { ...options, ...parts, ...deps }),
    ...mountPeople(options, api),
  ];
  const edge = { ...listen, trackingHosts: createTrackingHosts(parts.db, options.log) };
  const app = await createHttpServer(deps, { edge, health, publicUrl: listen.publicUrl, mounts });
  const localShell = await openLocalShell(options, { api, newId: deps.newId });
  life.onStop('http', async () => {
    // A stop does not wait for open feeds.
    feeds.stop();
    await Promise.all([closed(app.server, () => app.close()), localShell?.stop()]);
  });
  const { host, port } = listen;
  await listens({ variable: 'PORT', host, port }, app.listen({ host, port }));
  await localShell?.start();
  const reload = (): void => {
    if (listen.tls) reloadCertificate(app.server as HttpsServer, listen.tls);
  };
  const started = { http: portOf(app.server), redirect: null, reloadCertificate: reload };
  if (listen.redirectPort === null) return started;
  const redirect = createRedirectServer(
    listen,
    { rules: deps.transport, newId: deps.newId },
    (request, response) => app.routing(request, response),
  );
  const address = { variable: 'HTTP_REDIRECT_PORT', host, port: listen.redirectPort };
  await listens(address, listening(redirect, address));
  life.onStop('redirect', () => closed(redirect));
  return { ...started, redirect: portOf(redirect) };
}

function httpDeps(options: ServerOptions, { db, life, metrics, wake }: Parts): HttpDeps {
  const { log, pepper, minimumVersions, listen } = options;
  const { clock } = db;
  const accept = createAccept({
    db,
    log,
    onFlush(facts) {
      metrics.countFlush(facts);
      wake();
    },
  });
  life.onStop('accept', () => accept.drain());
  const counter = createCounter({ db, defaults: RATE_LIMIT_DEFAULTS, log });
  life.onStop('rate limits', () => counter.close());
  const uses = keyUse({ db, clock, log, minimumVersions });
  life.onStop('key use', () => uses.close());
  const warnings = warningCounter({ db, clock, log });
  life.onStop('warnings', () => warnings.close());
  const newId = idMaker(clock);
  const requests = requestLog({ db, clock, newId, log });
  life.onStop('requests', () => requests.close());
  return {
    accept,
    counter,
    keyUse: uses,
    warnings,
    requests,
    clock,
    aheadOf: async (projectId) => (await readProjectLock(db, projectId)).aheadMs,
    log,
    keyring: keyring({ db, pepper, log }),
    guard: createAddressGuard(clock),
    bodies: createBodyShares(),
    newId,
    transport: transportRules(listen),
    countResponse(...facts) {
      metrics.countResponse(...facts);
      db.failpoint?.('ingest_responded');
    },
  };
}

function exposedMetrics({ countedByAll }: ServerOptions, metrics: Metrics): HealthDeps['metrics'] {
  return countedByAll ? { text: countedByAll, contentType: metrics.contentType } : metrics;
}

async function startMetrics(
  { listen, countedByAll }: ServerOptions,
  parts: Pick<Parts, 'life' | 'metrics'>,
): Promise<number | null> {
  // With several processes, the supervisor listens there.
  if (listen.metricsPort === null || countedByAll) return null;
  const server = createMetricsServer(parts.metrics);
  const address = { variable: 'METRICS_PORT', host: listen.host, port: listen.metricsPort };
  await listens(address, listening(server, address));
  parts.life.onStop('metrics', () => closed(server));
  return portOf(server);
}

const OFFSET_MAX_MS = 5_000;
const READY_WITHIN_MS = 2_000;

/** Returns the reasons why this process should get no traffic now. */
async function readiness(db: Pick<Database, 'query' | 'offsetMs'>): Promise<string[]> {
  const reasons: string[] = [];
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('late')), READY_WITHIN_MS).unref();
  });
  await Promise.race([db.query('SELECT 1'), late]).catch(() => reasons.push('The database does not respond'));
  const offset = db.offsetMs();
  if (offset !== null && Math.abs(offset) > OFFSET_MAX_MS) {
    reasons.push(`This machine's clock is ${Math.round(offset / 1_000)} s from the database's`);
  }
  return reasons;
}
