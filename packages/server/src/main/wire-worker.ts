import { idMaker } from '../base/ids.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import { warningCounter } from '../features/warnings/index.ts';
import { createDigest } from '../flows/digest/index.ts';
import { createSender, keepInside, relayTransport, type Transport } from '../flows/send-drafts/index.ts';
import { createTeamTransport } from '../flows/team-mail.ts';
import type { TeamTransport } from '../flows/tell-team.ts';
import type { Metrics } from '../http/index.ts';
import { type Database, startListener } from '../io/db/index.ts';
import type { Relay } from '../io/mail/index.ts';
import {
  checkDomains,
  checkTracking,
  type Duty,
  forwardReplies,
  housekeeping,
  resealWebhooks,
  settleHits,
  tellTeam,
  startBuilder,
  startDigester,
  startImporter,
  startSender,
  startTeller,
  startTimetable,
  wordDrafts,
} from '../worker/index.ts';
import type { Outbound } from '../io/outbound/index.ts';
import { webhookAgent } from './mailroom.ts';
import { meteredDuty, meteredOutbound, meteredTransport } from './metered.ts';
import { stripeReader } from './stripe-reader.ts';
import { openWayOut } from './way-out.ts';
import type { ServerOptions } from './wire.ts';

/** A letter may leave so much later, so that those of a busy second share a batch. */
const TOGETHER_MS = 100;

/** The digest takes some thousand records out of the queue in it. */
const IMPORT_PAUSE_MS = 250;

/** What other processes shout when they accepted something. */
export const INBOX_CHANNEL = 'beckon_inbox';

type Parts = { db: Database; life: Lifecycle; metrics: Metrics };

/** The worker's part of a process; `wake` tells it that something was accepted right here. */
export async function startWorker(options: ServerOptions, parts: Parts): Promise<{ wake(): void }> {
  const { log } = options;
  const { db, life, metrics } = parts;
  // Stopped the other way round: the sender first, then the connections that it left, and then what became of those letters.
  let settled = (): Promise<void> => Promise.resolve();
  life.onStop('letters', () => settled());
  const out = await wayOut(options, parts);
  const outbound = options.openOutbound();
  life.onStop('outbound', () => outbound.close());
  const watch = { metrics, clock: db.clock };
  const duties = dutiesOf(options, { db, outbound, ...out }).map((duty) => meteredDuty(duty, watch));
  const timetable = startTimetable(duties, log, db.reach);
  life.onStop('timetable', () => timetable.stop());
  const warnings = warningCounter({ db, clock: db.clock, log });
  life.onStop('warnings of the digest', () => warnings.close());
  const digest = createDigest({ db, log, newId: idMaker(db.clock), onBatch: metrics.digested });
  const builder = startBuilder({ db, digest, log });
  life.onStop('builder', () => builder.stop());
  const sending = createSender({
    db,
    log,
    newId: idMaker(db.clock),
    mailroom: options.mailroom,
    tokenKeys: options.tokenKeys,
    transport: meteredTransport(out.transport, watch),
    togetherMs: TOGETHER_MS,
    restoreGuard: options.restoreGuard ?? 'auto',
  });
  const sender = startSender({ db, sender: sending, log, onLag: metrics.lagged });
  settled = () => sender.settled();
  life.onStop('sender', () => sender.stop());
  startTelling(options, { ...parts, outbound });
  const digester = startDigester({
    db,
    digest,
    log,
    onLag: metrics.lagged,
    onMisshapen: (projectId, trait) => warnings.note(projectId, `trait_${trait}_not_text`),
  });
  life.onStop('digester', () => digester.stop());
  const importer = startImporter({
    db,
    log,
    sealer: options.sealer,
    openStripe: stripeReader(db, options.stripeAddress),
    pauseMs: IMPORT_PAUSE_MS,
    accepted: () => digester.wake(),
  });
  life.onStop('importer', () => importer.stop());
  const listener = startListener({
    connection: options.adminConnection,
    channel: INBOX_CHANNEL,
    heard: () => digester.wake(),
    log,
  });
  life.onStop('listener', () => listener.stop());
  return { wake: () => digester.wake() };
}

function startTelling(
  { log, sealer, release }: ServerOptions,
  { db, life, metrics, outbound }: Parts & { outbound: Outbound },
): void {
  const teller = startTeller({
    db,
    log,
    sealer,
    outbound: meteredOutbound(outbound, metrics.posted),
    agent: webhookAgent(release.version),
    onLag: metrics.lagged,
  });
  life.onStop('teller', () => teller.stop());
}

type WayOut = { transport: Transport; teamTransport: TeamTransport; relay: Pick<Relay, 'hand'> | null };

async function wayOut(options: ServerOptions, { db, life }: Parts): Promise<WayOut> {
  const { transport, teamTransport, tokenKeys, mailFrom, mailroom } = options;
  if (transport && teamTransport) return { transport, teamTransport, relay: null };
  const relay = await openWayOut(options, { db, life });
  const { outlet } = mailroom;
  const newId = idMaker(db.clock);
  return {
    relay,
    transport: transport ?? keepInside(relayTransport({ relay, now: () => db.clock.now() }), db),
    teamTransport: teamTransport ?? createTeamTransport({ db, relay, outlet, mailFrom, tokenKeys, newId }),
  };
}

type DutyDeps = WayOut & { db: Database; outbound: Outbound };

function dutiesOf(
  options: ServerOptions,
  { db, outbound, relay, teamTransport: transport }: DutyDeps,
): Duty[] {
  const { log, listen, resolver, mail, sealer, model, mailroom, mailFrom, tokenKeys } = options;
  return [
    ...housekeeping(db, log),
    tellTeam({ db, log, publicUrl: listen.publicUrl, transport }),
    checkDomains({ db, log, resolver, mail, sealer }),
    resealWebhooks({ db, log, sealer }),
    checkTracking({ db, log, outbound, tokenKeys }),
    settleHits({ db, log, newId: idMaker(db.clock) }),
    ...(relay ? [forwardReplies({ db, log, relay, mailroom, mailFrom, tokenKeys })] : []),
    ...(model ? [wordDrafts({ db, log, model })] : []),
  ];
}
