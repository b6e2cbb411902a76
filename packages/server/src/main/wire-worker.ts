import { idMaker } from '../base/ids.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import { warningCounter } from '../features/warnings/index.ts';
import { createDigest } from '../flows/digest/index.ts';
import { createSender, relayTransport, type Transport } from '../flows/send-drafts/index.ts';
import { createTeamTransport } from '../flows/team-mail.ts';
import type { TeamTransport } from '../flows/tell-team.ts';
import type { Metrics } from '../http/index.ts';
import { type Database, startListener } from '../io/db/index.ts';
import {
  checkDomains,
  type Duty,
  housekeeping,
  tellTeam,
  startBuilder,
  startDigester,
  startSender,
  startTimetable,
  wordDrafts,
} from '../worker/index.ts';
import { openWayOut } from './way-out.ts';
import type { ServerOptions } from './wire.ts';

/** A letter may leave so much later, so that those of a busy second share a batch. */
const TOGETHER_MS = 100;

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
  const timetable = startTimetable(dutiesOf(options, { db, teamTransport: out.teamTransport }), log);
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
    transport: out.transport,
    togetherMs: TOGETHER_MS,
  });
  const sender = startSender({ db, sender: sending, log, onLag: metrics.lagged });
  settled = () => sender.settled();
  life.onStop('sender', () => sender.stop());
  const digester = startDigester({
    db,
    digest,
    log,
    onLag: metrics.lagged,
    onMisshapen: (projectId, trait) => warnings.note(projectId, `trait_${trait}_not_text`),
  });
  life.onStop('digester', () => digester.stop());
  const listener = startListener({
    connection: options.adminConnection,
    channel: INBOX_CHANNEL,
    heard: () => digester.wake(),
    log,
  });
  life.onStop('listener', () => listener.stop());
  return { wake: () => digester.wake() };
}

type WayOut = { transport: Transport; teamTransport: TeamTransport };

async function wayOut(options: ServerOptions, { db, life }: Parts): Promise<WayOut> {
  const { transport, teamTransport, tokenKeys, mailFrom, mailroom } = options;
  if (transport && teamTransport) return { transport, teamTransport };
  const relay = await openWayOut(options, { db, life });
  const { outlet } = mailroom;
  const newId = idMaker(db.clock);
  return {
    transport: transport ?? relayTransport({ relay, now: () => db.clock.now() }),
    teamTransport: teamTransport ?? createTeamTransport({ db, relay, outlet, mailFrom, tokenKeys, newId }),
  };
}

type DutyDeps = { db: Database; teamTransport: TeamTransport };

function dutiesOf(options: ServerOptions, { db, teamTransport: transport }: DutyDeps): Duty[] {
  const { log, listen, resolver, mail, sealer, model } = options;
  return [
    ...housekeeping(db, log),
    tellTeam({ db, log, publicUrl: listen.publicUrl, transport }),
    checkDomains({ db, log, resolver, mail, sealer }),
    ...(model ? [wordDrafts({ db, log, model })] : []),
  ];
}
