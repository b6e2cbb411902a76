/**
 * Ninety days are simulated, not made up. The real engine accepts records, evaluates rules, drafts, waits for deadlines and sends, on a
 * separate database and a clock that advances hour by hour. A demo therefore shows how the product really behaves.
 */

import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { SuppressionHasher } from '../../sending/index.ts';
import { insertReply } from '../../inbound/index.ts';
import { listDueProjects } from '../../../platform/locks/timers.ts';
import { listBuilding } from '../../audiences/index.ts';
import { ensurePartitions } from '../../users/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type Accept, createAccept } from '../../ingest/index.ts';
import { createProcessor, type Processor } from '../../processing/index.ts';
import { recordOutcomes } from '../../outcomes/index.ts';
import {
  createSender,
  type DueDraftSender,
  type SendServices,
  type TransportEmail,
  type Transport,
} from '../../delivery/index.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Random } from './random.ts';
import { submitResult, type Reaction, reactionsTo, review } from './reactions.ts';
import type { SimulatedRequest } from './story.ts';
import { createDemoEnvironment, type DemoEnvironment } from './surroundings.ts';
import { keepMail } from '../../review/index.ts';

export type Life = {
  db: Database;
  clock: { set(at: number): void };
  newId: NewId;
  random: Random;
  sendServices: SendServices;
  tokenKeys: TokenKeys;
  hasher: SuppressionHasher;
  log: Log;
  encrypter: Encrypter;
  project: { id: number; key: { id: string; last4: string } };
  onDay: (day: number) => void;
};

type Stage = Life & {
  accept: Accept;
  processor: Processor;
  sender: DueDraftSender;
  sent: TransportEmail[];
  pending: Reaction[];
  environment: DemoEnvironment;
};

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The last days are simulated in smaller steps. */
const CLOSE_MS = 8 * DAY;

export async function liveThrough(
  life: Life,
  acts: SimulatedRequest[],
  span: { from: number; to: number },
): Promise<void> {
  const stage = stageOf(life, await createDemoEnvironment(life));
  try {
    let next = 0;
    for (let at = span.from; at < span.to;) {
      const dayBefore = Math.floor((at - span.from) / DAY);
      at = Math.min(span.to, at + stepFrom(life.random, span.to - at));
      life.clock.set(at);
      const day = Math.floor((at - span.from) / DAY);
      if (day !== dayBefore) {
        await ensurePartitions(life.db, at);
        await review(life, { workday: day % 7 < 5 });
        life.onDay(day);
      }
      const begin = next;
      while (next < acts.length && (acts[next]?.at ?? Infinity) <= at) next += 1;
      await acceptAll(stage, acts.slice(begin, next));
      await settle(stage);
      await react(stage, at);
      await settle(stage);
      await stage.environment.deliver();
    }
  } finally {
    await stage.environment.end();
    await stage.accept.drain();
    stage.sender.stop();
  }
}

function stepFrom(random: Random, remainingMs: number): number {
  return remainingMs > CLOSE_MS ? (2.5 + random.next() * 2) * HOUR : (0.6 + random.next() * 0.8) * HOUR;
}

function stageOf(life: Life, environment: DemoEnvironment): Stage {
  const { db, log, newId, hasher, sendServices, tokenKeys, random } = life;
  const sent: TransportEmail[] = [];
  const transport: Transport = {
    submit(email) {
      const result = submitResult(random);
      if (result.result === 'sent') sent.push(email);
      return Promise.resolve(result);
    },
  };
  return {
    ...life,
    sent,
    pending: [],
    environment,
    accept: createAccept({ db, log, onFlush: () => {} }),
    processor: createProcessor({ db, log, newId, hasher }),
    sender: createSender({ db, log, newId, transport, sendServices, tokenKeys }),
  };
}

/** Accepts an hour's records concurrently, so that they share one flush. */
async function acceptAll({ accept, project, environment }: Stage, acts: SimulatedRequest[]): Promise<void> {
  for (const kind of ['user', 'event'] as const)
    environment.requests(`${kind}s`, acts.filter((act) => act.kind === kind).length);
  const key = { ...project.key, projectId: project.id };
  const reply = { status: 202, body: null };
  await Promise.all(
    acts.map(({ at, kind, record }) => {
      const body = kind === 'event' ? { ...record, occurred_at: new Date(at).toISOString() } : record;
      const entry = {
        key,
        once: null,
        kind: `${kind}s` as const,
        records: 1,
        parts: JSON.stringify(body),
        reply,
      };
      return accept.store(entry, 'live');
    }),
  );
}

/** Processes everything that is queued or due, until nothing is left. */
async function settle({ db, processor, sender, project }: Stage): Promise<void> {
  for (let count = 1; count > 0;) {
    count = (await processor.batch('live', [project.id])).records;
    for (const key of await listBuilding(db, 100)) {
      await processor.build(key);
      count += 1;
    }
    const now = new Date(db.clock.now());
    for (const work of ['process', 'send'] as const)
      for (const { projectId } of await listDueProjects(db, { work, now, limit: 10 })) {
        count += 1;
        if (work === 'process') await processor.timers(projectId);
        else await sender.batch(projectId);
      }
  }
}

/** Stores sent emails as the test inbox does, and schedules the recipients' reactions. */
async function react(stage: Stage, now: number): Promise<void> {
  const { db, random, sent } = stage;
  for (const email of sent.splice(0)) {
    const { projectId, emailId: id, draftId, userId, mailFrom, rcptTo, mime } = email;
    await keepMail(db, { projectId, id, draftId, userId, mailFrom, rcptTo, at: now, raw: mime });
    stage.pending.push(...reactionsTo(random, email, now));
  }
  const due = stage.pending.filter(({ at }) => at <= now);
  stage.pending = stage.pending.filter(({ at }) => at > now);
  const projectId = stage.project.id;
  for (const reaction of due) if (reaction.kind === 'reply') await storeReply(stage, reaction);
  await recordOutcomes(
    stage,
    due.map((reaction) => ({
      projectId,
      emailId: reaction.emailId,
      occurredAt: reaction.at,
      ...(reaction.kind === 'outcome'
        ? reaction.what
        : ({ type: 'email.replied', inboundId: reaction.emailId, snippet: reaction.text } as const)),
    })),
  );
}

async function storeReply(
  { db, newId }: Stage,
  { at, email, text }: Reaction & { kind: 'reply' },
): Promise<void> {
  const { projectId, emailId, draftId, userId, address, content } = email;
  await insertReply(db, {
    projectId,
    id: newId(),
    emailId,
    draftId,
    userId,
    inboundId: emailId,
    kind: 'reply',
    verified: 'recipient',
    receivedAt: at,
    fromAddress: address,
    fromName: '',
    subject: `Re: ${content.subject}`,
    text,
    raw: null,
    forwardAt: null,
  });
}
