import type { Server as HttpsServer } from 'node:https';
import { RATE_LIMIT_DEFAULTS } from '@beckon/contract';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { Reach } from '../base/crash-points.ts';
import { idMaker } from '../base/ids.ts';
import { createLifecycle, type Lifecycle } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { keyring, keyUse } from '../features/keys/index.ts';
import { requestLog } from '../features/stream/index.ts';
import type { RestoreGuard } from '../features/restores/index.ts';
import { readTurn } from '../features/turns/index.ts';
import { warningCounter } from '../features/warnings/index.ts';
import { createAccept } from '../flows/accept/index.ts';
import type { Mailroom, Transport } from '../flows/send-drafts/index.ts';
import type { TeamTransport } from '../flows/team-mail.ts';
import {
  type AppState,
  type GuideState,
  createAddressGuard,
  createBodyShares,
  createFeeds,
  createHttpServer,
  createMetrics,
  createMetricsServer,
  type EmbeddedData,
  createRedirectServer,
  type EdgeConfig,
  type HealthDeps,
  type HttpDeps,
  mountSandbox,
  type Metrics,
  type Release,
  reloadCertificate,
  transportRules,
  watchDatabase,
  watchEmbedded,
} from '../http/index.ts';
import { createCounter } from '../io/counter/index.ts';
import { createTrackingHosts, type MailSettings } from '../features/domains/index.ts';
import type { LookUp, Resolver } from '../io/dns/index.ts';
import type { Outbound } from '../io/outbound/index.ts';
import { type ConnectionSource, createNotifier, type Database, openDatabase } from '../io/db/index.ts';
import type { DraftModel } from '../io/model/index.ts';
import type { StripeAddress } from '../io/stripe/index.ts';
import { closed, listening, listens, portOf } from './listening.ts';
import { type Counts, countsOf } from './merged-counts.ts';
import { meteredLog } from './metered.ts';
import type { Secrets } from './secrets.ts';
import { readiness } from './readiness.ts';
import { mountPeople, openDashboardApi, openTeam } from './wire-dashboard.ts';
import { mountPages, wireMailIn } from './wire-letters.ts';
import { openLocalShell } from './wire-local-shell.ts';
import { INBOX_CHANNEL, startWorker } from './wire-worker.ts';

export type ServerOptions = Pick<Secrets, 'pepper' | 'sealer' | 'hasher' | 'tokenKeys'> & {
  /** A database that is migrated, durable, and opened with its own secret: see `prepare.ts`. */
  connection: ConnectionSource;
  /** Connects directly to the database, never through a pooler. */
  adminConnection: ConnectionSource;
  namedStatements: boolean;
  clock: Clock;
  log: Log;
  release: Release;
  roles: ReadonlySet<'api' | 'worker' | 'mail-in'>;
  listen: ListenOptions;
  /** Client name → the least version that gets no request to update. */
  minimumVersions: ReadonlyMap<string, string>;
  projectsMax: number;
  /** The path of the local shell's socket. Null or absent: no socket. */
  localShell?: string | null;
  /** Keys that sign sessions of members; the current one first. */
  teamSecrets: readonly [string, ...string[]];
  resolver: Resolver;
  /** Raw DNS lookups, for the verification of inbound mail. */
  lookUp: LookUp;
  /** Connects to hosts that customers named; opened once per process. */
  openOutbound(): Outbound;
  /** Null or absent: this process receives no mail. */
  mailIn?: { host: string; port: number; isAsked: boolean } | null;
  mail: MailSettings;
  mailroom: Mailroom;
  /** Null: emails go to the test inbox. */
  smtpUrl: string | null;
  /** The sender of emails to members. */
  mailFrom: string | null;
  /** The rules for endpoints, and the User-Agent of webhooks. */
  webhooks: { allowPrivate: boolean; agent: string };
  /** The built page of the dashboard. Absent, it counts as not built yet. */
  dashboard?: () => AppState;
  /** The built guide, in the same way. */
  guide?: () => GuideState;
  /** The model for AI drafting, if the installation has one. */
  model?: DraftModel | null;
  /** Null or absent: the database is external. */
  embedded?: EmbeddedData | null;
  /** The confirmation that a restored database requires before it sends emails; `auto` if absent. */
  restoreGuard?: RestoreGuard;
  /** Returns the counts of all processes instead of its own, if this process is one of several. */
  countedByAll?: () => Promise<string>;
  /** For tests that end a process at a failpoint. */
  reach?: Reach;
  /** Replaces the address of Stripe in tests. */
  stripeAddress?: StripeAddress;
  /** Replaces the transport of emails in tests. */
  transport?: Transport;
  teamTransport?: TeamTransport;
};

export type ListenOptions = EdgeConfig & {
  host: string;
  port: number;
  publicUrl: string;
  trustProxy: readonly string[];
  redirectPort: number | null;
  metricsPort: number | null;
};

export type RunningServer = {
  /** The ports on which it listens; the system chose those configured as 0. */
  ports: { http: number | null; redirect: number | null; metrics: number | null; mailIn: number | null };
  /** Reads the certificate files again, for new connections. Throws, and changes nothing, if they do not match. */
  reloadCertificate(): void;
  /** Returns the counts of this process, to be added to those of others. */
  counts(): Promise<Counts>;
  /** A log whose entries are counted. */
  log: Log;
  /** Accepts no new connection, answers requests in progress, and loses nothing. */
  stop(): Promise<void>;
};

/** Wires all dependencies. No other function decides which part gets what. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const life = createLifecycle(options.log, options.reach);
  try {
    return await wire(options, life);
  } catch (error) {
    await life.stop();
    throw error;
  }
}

async function wire(given: ServerOptions, life: Lifecycle): Promise<RunningServer> {
  const metrics = createMetrics(given.release);
  life.onStop('metrics of the process', () => metrics.stop());
  const options = { ...given, log: meteredLog(given.log, metrics.logged) };
  const { clock, log, connection, namedStatements, roles, reach } = options;
  const db = await openDatabase({ connection, clock, log, namedStatements, reach });
  life.onStop('database', () => db.close());
  watchDatabase(metrics.registry, { db, log });
  if (options.embedded) watchEmbedded(metrics.registry, options.embedded, clock);
  const worker = roles.has('worker') ? await startWorker(options, { db, life, metrics }) : null;
  const wake = worker ? () => worker.wake() : shoutToWorkers(options, { db, life });
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
const SHOUT_EVERY_MS = 20;

function shoutToWorkers({ log }: ServerOptions, { db, life }: Pick<Parts, 'db' | 'life'>): () => void {
  const notifier = createNotifier({ db, channel: INBOX_CHANNEL, everyMs: SHOUT_EVERY_MS, log });
  life.onStop('notifier', () => notifier.stop());
  return () => notifier.shout();
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
    metrics: shownMetrics(options, parts.metrics),
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
  const place = { variable: 'HTTP_REDIRECT_PORT', host, port: listen.redirectPort };
  await listens(place, listening(redirect, place));
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
      metrics.flushed(facts);
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
    aheadOf: async (projectId) => (await readTurn(db, projectId)).aheadMs,
    log,
    keyring: keyring({ db, pepper, log }),
    guard: createAddressGuard(clock),
    bodies: createBodyShares(),
    newId,
    transport: transportRules(listen),
    answered(...facts) {
      metrics.answered(...facts);
      db.reach?.('accept_answered');
    },
  };
}

function shownMetrics({ countedByAll }: ServerOptions, metrics: Metrics): HealthDeps['metrics'] {
  return countedByAll ? { text: countedByAll, contentType: metrics.contentType } : metrics;
}

async function startMetrics(
  { listen, countedByAll }: ServerOptions,
  parts: Pick<Parts, 'life' | 'metrics'>,
): Promise<number | null> {
  // With several processes, the supervisor listens there.
  if (listen.metricsPort === null || countedByAll) return null;
  const server = createMetricsServer(parts.metrics);
  const place = { variable: 'METRICS_PORT', host: listen.host, port: listen.metricsPort };
  await listens(place, listening(server, place));
  parts.life.onStop('metrics', () => closed(server));
  return portOf(server);
}
