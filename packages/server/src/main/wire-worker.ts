import { idMaker } from '../platform/ids.ts';
import type { Lifecycle } from '../platform/async/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { warningCounter } from '../modules/ingest/index.ts';
import { createProcessor, startProcessor, startAudienceBuilder } from '../modules/processing/index.ts';
import {
  createSender,
  relayTransport,
  smtpUrlMarker,
  type OpenRelayTransport,
  type Transport,
  createTeamTransport,
  type TeamTransport,
  type DraftSender,
  startSender,
} from '../modules/delivery/index.ts';

import type { Metrics } from '../modules/operations/metrics/metrics.ts';
import type { Database } from '../platform/db/database.ts';
import { startListener } from '../platform/db/notifications.ts';
import type { Relay } from '../platform/mail/submit.ts';
import type { Loop } from '../platform/jobs/run-loop.ts';
import { startScheduler } from '../platform/jobs/scheduler.ts';
import { createWorkWatch, type WorkWatch } from '../platform/jobs/work-watch.ts';
import { jobTable } from './jobs.ts';
import { startImporter } from '../modules/imports/index.ts';
import { createMailReader } from '../modules/inbound/index.ts';
import { startWebhookDispatcher, type WebhookDispatcher } from '../modules/webhooks/index.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import { webhookAgent } from './open-send-services.ts';
import { meteredJob, meteredOutbound, meteredSubmissions, meteredTransport } from './metered.ts';
import { stripeReader } from './stripe-reader.ts';
import { openOutgoingRelay, openProjectRelays } from './open-transport.ts';
import type { ServerOptions } from './options.ts';
import { keepInside } from '../modules/review/index.ts';

/** An email may be delayed this long, so that those of a busy second share a batch. */
const TOGETHER_MS = 100;

/** Processing takes some thousand records from the queue in this time. */
const IMPORT_PAUSE_MS = 250;

/** The channel on which other processes announce accepted records. */
export const INGEST_QUEUE_CHANNEL = 'beckon_ingest_queue';

type Parts = { db: Database; life: Lifecycle; metrics: Metrics };
type LoopParts = Parts & { watch: WorkWatch };

export type RunningWorker = {
  /** Called when this process accepted a record. */
  wake(): void;
  /** Takes no new work from now on. Resolves when the work under way has ended, or its time is over. */
  stop(): Promise<void>;
};

/**
 * A connection that the provider closes while an email is being written leaves it unknown. Servers keep idle connections for five seconds at
 * least, so we close them before. A slow answer is better than none.
 */
const RELAY_BOUNDS = { idleMs: 4_000, totalMs: 30_000 };

/** Starts the worker's part of a process. */
export async function startWorker(options: ServerOptions, parts: Parts): Promise<RunningWorker> {
  const { log } = options;
  const { db, life, metrics } = parts;
  // Stops run in reverse order: first the work, then its connections, then the outcomes of work that was cut off.
  let settled = (): Promise<unknown> => Promise.resolve();
  life.onStop('emails', async () => void (await settled()));
  const out = await openTransports(options, parts);
  const outbound = options.openOutbound();
  life.onStop('outbound', () => outbound.close());
  const meter = { metrics, clock: db.clock };
  const reader = createMailReader();
  life.onStop('reading of mailboxes', () => reader.close());
  const jobs = jobTable(options, { db, outbound, ...out, readMail: reader.read }).map((job) =>
    meteredJob(job, meter),
  );
  const watch = createWorkWatch(db);
  life.onStop('work watch', () => watch.stop());
  const scheduler = startScheduler(jobs, { log, watch, failpoint: db.failpoint });
  const warnings = warningCounter({ db, clock: db.clock, log });
  life.onStop('processing warnings', () => warnings.close());
  const processor = createProcessor({
    db,
    log,
    newId: idMaker(db.clock),
    hasher: options.hasher,
    onBatch: metrics.countBatch,
  });
  const loops = { ...parts, watch };
  const relayOutbound = options.openOutbound(RELAY_BOUNDS);
  life.onStop('relay requests', () => relayOutbound.close());
  const openRelayTransport = openProjectRelays(options, { ...parts, outbound: relayOutbound });
  const sender = startSending(options, {
    ...loops,
    transport: meteredTransport(out.transport, meter),
    openRelayTransport: (relay) => keepInside(meteredSubmissions(openRelayTransport(relay), metrics), db),
  });
  settled = () => Promise.all([sender.settled(), scheduler.settled()]);
  const processorLoop = startProcessor({
    db,
    processor,
    log,
    watch,
    onLag: metrics.reportLag,
    onWarning: (projectId, code) => warnings.note(projectId, code),
  });
  const stop = stopperOf(log, {
    sender,
    webhooks: startDispatching(options, { ...loops, outbound }),
    processorLoop,
    scheduler,
    builder: startAudienceBuilder({ db, processor, log, watch, wakeProcessor: () => processorLoop.wake() }),
    ...startIntake(options, { db, processorLoop, watch }),
  });
  life.onStop('work', stop);
  return { wake: () => processorLoop.wake(), stop };
}

type Stoppable = { stop(): Promise<void> };

/** All parts stop at the same moment: while one is waited for, the others take no new work. */
function stopperOf(log: Log, parts: Record<string, Stoppable>): () => Promise<void> {
  let stopping: Promise<unknown> | undefined;
  return async () => {
    stopping ??= Promise.all(
      Object.entries(parts).map(([part, running]) =>
        running
          .stop()
          .catch((error: unknown) => log.error({ component: part, err: error }, 'shutdown.failed')),
      ),
    );
    await stopping;
  };
}

/** Starts the import of records, and the listener for records of other processes. */
function startIntake(
  options: ServerOptions,
  { db, processorLoop, watch }: { db: Database; processorLoop: Loop; watch: WorkWatch },
): Record<'importer' | 'listener', Stoppable> {
  const { log, encrypter, stripeAddress, adminConnection: connection } = options;
  const wake = (): void => processorLoop.wake();
  const openStripe = stripeReader(db, stripeAddress);
  return {
    importer: startImporter({
      db,
      log,
      encrypter,
      openStripe,
      watch,
      pauseMs: IMPORT_PAUSE_MS,
      accepted: wake,
    }),
    listener: startListener({ connection, channel: INGEST_QUEUE_CHANNEL, onNotification: wake, log }),
  };
}

function startSending(
  { log, sendServices, tokenKeys, restoreGuard = 'auto' }: ServerOptions,
  {
    db,
    metrics,
    watch,
    ...transports
  }: LoopParts & { transport: Transport; openRelayTransport: OpenRelayTransport },
): DraftSender {
  const newId = idMaker(db.clock);
  const deps = {
    db,
    log,
    newId,
    sendServices,
    tokenKeys,
    ...transports,
    togetherMs: TOGETHER_MS,
    restoreGuard,
  };
  return startSender({ db, sender: createSender(deps), log, watch, onLag: metrics.reportLag });
}

function startDispatching(
  { log, encrypter, release }: ServerOptions,
  { db, metrics, watch, outbound }: LoopParts & { outbound: Outbound },
): WebhookDispatcher {
  return startWebhookDispatcher({
    db,
    log,
    encrypter,
    outbound: meteredOutbound(outbound, metrics.countAttempt),
    agent: webhookAgent(release.version),
    watch,
    onLag: metrics.reportLag,
  });
}

type MailTransports = {
  transport: Transport;
  teamTransport: TeamTransport;
  relay: Pick<Relay, 'submit'> | null;
};

async function openTransports(options: ServerOptions, { db, life }: Parts): Promise<MailTransports> {
  const { transport, teamTransport, tokenKeys, mailFrom, sendServices } = options;
  if (transport && teamTransport) return { transport, teamTransport, relay: null };
  const relay = await openOutgoingRelay(options, { db, life });
  const { outlet } = sendServices;
  const newId = idMaker(db.clock);
  const mark = smtpUrlMarker({ db, kinds: options.relayKinds, tokenKeys });
  return {
    relay,
    transport: transport ?? keepInside(relayTransport({ relay, mark, now: () => db.clock.now() }), db),
    teamTransport: teamTransport ?? createTeamTransport({ db, relay, outlet, mailFrom, tokenKeys, newId }),
  };
}
