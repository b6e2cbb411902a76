import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';
import { keepMail, type SuppressionHasher } from '../../sending/index.ts';
import { insertReply } from '../../inbound/index.ts';
import { duePlaces } from '../../../platform/locks/timers.ts';
import { listBuilding } from '../../audiences/index.ts';
import { ensurePartitions } from '../../users/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type Accept, createAccept } from '../../ingest/index.ts';
import { createDigest, type Digest } from '../../processing/index.ts';
import { recordOutcomes } from '../../outcomes/index.ts';
import {
  createSender,
  type DueDraftSender,
  type Mailroom,
  type TransportEmail,
  type Transport,
} from '../../delivery/index.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Random } from './random.ts';
import { handedOver, type Reaction, reactionsTo, review } from './reactions.ts';
import type { SimulatedRequest } from './story.ts';
import { surround, type DemoEnvironment } from './surroundings.ts';

/**
 * Ninety days are simulated, not made up. The real engine accepts records, evaluates rules, drafts, waits for deadlines and sends, on a
 * separate database and a clock that advances hour by hour. A demo therefore shows how the product really behaves.
 */
export type Life = {
  db: Database;
  clock: { set(at: number): void };
  newId: NewId;
  random: Random;
  mailroom: Mailroom;
  tokenKeys: TokenKeys;
  hasher: SuppressionHasher;
  log: Log;
  sealer: Sealer;
  project: { id: number; key: { id: string; last4: string } };
  onDay: (day: number) => void;
};

type Stage = Life & {
  accept: Accept;
  digest: Digest;
  sender: DueDraftSender;
  sent: TransportEmail[];
  pending: Reaction[];
  around: DemoEnvironment;
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
  const stage = stageOf(life, await surround(life));
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
      await stage.around.tell();
    }
  } finally {
    await stage.around.end();
    await stage.accept.drain();
    stage.sender.stop();
  }
}

function stepFrom(random: Random, left: number): number {
  return left > CLOSE_MS ? (2.5 + random.next() * 2) * HOUR : (0.6 + random.next() * 0.8) * HOUR;
}

function stageOf(life: Life, around: DemoEnvironment): Stage {
  const { db, log, newId, hasher, mailroom, tokenKeys, random } = life;
  const sent: TransportEmail[] = [];
  const transport: Transport = {
    hand(email) {
      const handed = handedOver(random);
      if (handed.result === 'sent') sent.push(email);
      return Promise.resolve(handed);
    },
  };
  return {
    ...life,
    sent,
    pending: [],
    around,
    accept: createAccept({ db, log, onFlush: () => {} }),
    digest: createDigest({ db, log, newId, hasher }),
    sender: createSender({ db, log, newId, transport, mailroom, tokenKeys }),
  };
}

/** Accepts an hour's records concurrently, so that they share one flush. */
async function acceptAll({ accept, project, around }: Stage, acts: SimulatedRequest[]): Promise<void> {
  for (const kind of ['user', 'event'] as const)
    around.requests(`${kind}s`, acts.filter((act) => act.kind === kind).length);
  const key = { ...project.key, projectId: project.id };
  const reply = { status: 202, body: null };
  await Promise.all(
    acts.map(({ at, kind, record }) => {
      const told = kind === 'event' ? { ...record, occurred_at: new Date(at).toISOString() } : record;
      const entry = {
        key,
        once: null,
        kind: `${kind}s` as const,
        records: 1,
        parts: JSON.stringify(told),
        reply,
      };
      return accept.store(entry, 'live');
    }),
  );
}

/** Processes everything that is queued or due, until nothing is left. */
async function settle({ db, digest, sender, project }: Stage): Promise<void> {
  for (let done = 1; done > 0;) {
    done = (await digest.batch('live', [project.id])).records;
    for (const place of await listBuilding(db, 100)) {
      await digest.build(place);
      done += 1;
    }
    const now = new Date(db.clock.now());
    for (const work of ['process', 'send'] as const)
      for (const { projectId } of await duePlaces(db, { work, now, limit: 10 })) {
        done += 1;
        if (work === 'process') await digest.due(projectId);
        else await sender.batch(projectId);
      }
  }
}

/** Stores sent emails as the test inbox does, and schedules the recipients' reactions. */
async function react(stage: Stage, now: number): Promise<void> {
  const { db, random, sent } = stage;
  for (const email of sent.splice(0)) {
    const { projectId, messageId: id, draftId, userId, mailFrom, rcptTo, mime } = email;
    await keepMail(db, { projectId, id, draftId, userId, mailFrom, rcptTo, at: now, raw: mime });
    stage.pending.push(...reactionsTo(random, email, now));
  }
  const due = stage.pending.filter(({ at }) => at <= now);
  stage.pending = stage.pending.filter(({ at }) => at > now);
  const projectId = stage.project.id;
  for (const one of due) if (one.kind === 'reply') await answer(stage, one);
  await recordOutcomes(
    stage,
    due.map((one) => ({
      projectId,
      messageId: one.messageId,
      occurredAt: one.at,
      ...(one.kind === 'outcome'
        ? one.what
        : ({ type: 'email.replied', inboundId: one.messageId, snippet: one.text } as const)),
    })),
  );
}

async function answer(
  { db, newId }: Stage,
  { at, email, text }: Reaction & { kind: 'reply' },
): Promise<void> {
  const { projectId, messageId, draftId, userId, address, content } = email;
  await insertReply(db, {
    projectId,
    id: newId(),
    messageId,
    draftId,
    userId,
    inboundId: messageId,
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
