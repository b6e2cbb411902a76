import { join } from 'node:path';
import { iso, systemClock } from '../../../packages/server/src/platform/time/clock.ts';
import { idMaker } from '../../../packages/server/src/platform/ids.ts';
import { setTimersEarlier } from '../../../packages/server/src/platform/locks/timers.ts';
import { webhookName } from '../../../packages/server/src/modules/webhooks/deliveries/webhook.ts';
import { insertWebhooks } from '../../../packages/server/src/modules/webhooks/deliveries/store.ts';
import { addEndpoint } from '../../../packages/server/src/modules/webhooks/endpoints/change-endpoint.ts';
import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import { type Testbed, openTestbed, type Server } from '../testbed.ts';
import type { SinkCount } from './sink-process.ts';

/**
 * The customers' server and the product's worker as it runs in production, each in a process of its own. The limits are too high to be
 * reached.
 */
export type Stage = { testbed: Testbed; sink: Sink; worker: Server; projectIds: number[] };
export type Sink = { pid: number; port: number; count(): Promise<SinkCount>; forget(): Promise<SinkCount> };

export const PROJECTS = 4;
/** Endpoints per project. Each gets every event. */
export const ENDPOINTS = 10;
/** Endpoint limits that are too high to be reached. The worker shares the machine with PostgreSQL and the sink. */
const UNBOUND = { perSecond: 10_000, inFlightMax: 200 };
const CERTIFICATE = join(import.meta.dirname, '../../../packages/server/testing/servers/tls/names.crt');

export async function onStage<T>(answerMs: number, work: (stage: Stage) => Promise<T>): Promise<T> {
  const testbed = await openTestbed();
  try {
    const sink = await openSink(testbed);
    const projectIds: number[] = [];
    for (let i = 0; i < PROJECTS; i += 1) projectIds.push(await projectOf(testbed, { sink, answerMs }));
    const env = { WEBHOOK_ALLOW_PRIVATE: 'true', NODE_EXTRA_CA_CERTS: CERTIFICATE };
    const worker = await testbed.serve('worker', { env });
    return await work({ testbed, sink, worker, projectIds });
  } finally {
    await testbed.close();
  }
}

async function projectOf(
  testbed: Testbed,
  { sink, answerMs }: { sink: Sink; answerMs: number },
): Promise<number> {
  const { id: projectId } = await testbed.project();
  const { db, encrypter } = testbed;
  const deps = { db, encrypter, newId: idMaker(systemClock), rules: { allowPrivate: true } };
  for (let i = 0; i < ENDPOINTS; i += 1) {
    const url = `https://127.0.0.1:${sink.port}/${answerMs}/${projectId}-${i}`;
    await addEndpoint(deps, { projectId, url, ...UNBOUND });
  }
  return projectId;
}

async function openSink(testbed: Testbed): Promise<Sink> {
  const { port, pid } = await testbed.script('verification/bench/webhooks/sink-process.ts');
  const command = async (what: string): Promise<SinkCount> => {
    const answer = await fetch(`http://127.0.0.1:${port}/${what}`, { method: 'POST' });
    return (await answer.json()) as SinkCount;
  };
  return {
    pid,
    port: (await command('count')).port,
    count: () => command('count'),
    forget: () => command('forget'),
  };
}

const newId = idMaker(systemClock);

/** Returns a body of realistic size. */
export function bodyOf(id: string, at: number): string {
  const about = {
    external_user_id: 'user-4711',
    email_id: id,
    draft_id: id,
    rule: 'welcome',
    occurred_at: iso(at),
  };
  const data = {
    ...about,
    bot: 'no',
    bot_reason: null,
    url: `https://example.com/${'x'.repeat(400)}`,
  };
  return JSON.stringify({
    id: webhookName(id),
    type: 'email.clicked',
    timestamp: iso(at),
    livemode: true,
    data,
  });
}

/** Queues this many events of a project in one commit. `dueAt` is when they may be sent. */
export async function queue(
  { testbed }: Pick<Stage, 'testbed'>,
  { projectId, count, dueAt }: { projectId: number; count: number; dueAt: number },
): Promise<void> {
  const at = Date.now();
  const webhooks = Array.from({ length: count }, () => {
    const id = newId();
    return {
      projectId,
      id,
      outcomeId: id,
      type: 'email.clicked',
      userId: 'user-4711',
      body: bodyOf(id, at),
      createdAt: dueAt,
    };
  });
  await testbed.db.transaction(async (tx) => {
    await insertWebhooks(tx, webhooks);
    await setTimersEarlier(tx, 'webhooks', [{ projectId, nextAt: new Date(dueAt) }]);
  });
}

/** Waits until no delivery of any project is pending or under way. */
export async function untilAllDelivered({ testbed }: Pick<Stage, 'testbed'>): Promise<void> {
  for (;;) {
    const rows = await testbed.db.query(
      `SELECT 1 FROM beckon.webhook_delivery WHERE next_at IS NOT NULL LIMIT 1`,
    );
    if (rows.length === 0) return;
    await new Promise((resolve) => void setTimeout(resolve, 100));
  }
}

/** Counts deliveries that are not delivered by exactly one finished attempt. */
export async function countUndelivered({ testbed }: Pick<Stage, 'testbed'>): Promise<number> {
  const [row] = await testbed.db.query<{ wrong: number }>(
    `SELECT count(*) AS wrong FROM beckon.webhook_delivery d LEFT JOIN beckon.webhook_attempt a USING (project_id, webhook_id, endpoint_id)
     WHERE d.state <> 'delivered' OR d.attempts <> 1 OR a.ended_at IS NULL OR a.status <> 204`,
  );
  return row?.wrong ?? 0;
}

/** Seconds of CPU time of the webhook dispatcher, of PostgreSQL and of the sink. */
export type Cpu = { dispatcher: number; postgres: number; sink: number };

export function watchCpu({ testbed, sink }: Pick<Stage, 'testbed' | 'sink'>, dispatcher: number): () => Cpu {
  const read = () => ({
    dispatcher: usageOf(dispatcher),
    postgres: usageOfTree(testbed.postgresPid),
    sink: usageOf(sink.pid),
  });
  const before = read();
  return () => {
    const after = read();
    return {
      dispatcher: cpuBetween(before.dispatcher, after.dispatcher),
      postgres: cpuBetween(before.postgres, after.postgres),
      sink: cpuBetween(before.sink, after.sink),
    };
  };
}
