import { idMaker } from '../base/ids.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import { warningCounter } from '../features/warnings/index.ts';
import { createDigest } from '../flows/digest/index.ts';
import { createSender } from '../flows/send-drafts/index.ts';
import type { Metrics } from '../http/index.ts';
import { type Database, startListener } from '../io/db/index.ts';
import { type Duty, startBuilder, startDigester, startSender, startTimetable } from '../worker/index.ts';
import type { ServerOptions } from './wire.ts';

/** A letter may leave so much later, so that those of a busy second share a batch. */
const TOGETHER_MS = 100;

/** What other processes shout when they accepted something. */
export const INBOX_CHANNEL = 'beckon_inbox';

type Parts = { db: Database; life: Lifecycle; metrics: Metrics; duties: Duty[] };

/** The worker's part of a process; `wake` tells it that something was accepted right here. */
export function startWorker(options: ServerOptions, parts: Parts): { wake(): void } {
  const { log } = options;
  const { db, life, metrics } = parts;
  const timetable = startTimetable(parts.duties, log);
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
    transport: options.transport,
    togetherMs: TOGETHER_MS,
  });
  const sender = startSender({ db, sender: sending, log, onLag: metrics.lagged });
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
