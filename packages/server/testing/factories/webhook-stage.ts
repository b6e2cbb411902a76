import { iso } from '../../src/platform/time/clock.ts';
import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import { createEncrypter, type Encrypter } from '../../src/platform/crypto/encrypt.ts';
import { addEndpoint, type NewEndpoint } from '../../src/modules/webhooks/endpoints/change-endpoint.ts';
import { setTimersEarlier } from '../../src/platform/locks/timers.ts';
import {
  listDeliveries,
  nextWorkTimes,
  type DeliverySummary,
} from '../../src/modules/webhooks/deliveries/reads.ts';
import { webhookName } from '../../src/modules/webhooks/deliveries/webhook.ts';
import { insertWebhooks } from '../../src/modules/webhooks/deliveries/store.ts';
import { createProject } from '../../src/modules/administration/create-project.ts';
import { createDelivery, type Delivery } from '../../src/modules/webhooks/dispatch/dispatch.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { createOutbound, type Outbound } from '../../src/platform/outbound/outbound.ts';
import { type FixedClock, fixedClock } from './clock.ts';
import { testDatabase, type TestDatabase } from './database.ts';
import { HOOK_CA, type HookServer, hookServer } from '../servers/hook-server.ts';

/** Endpoints, events and their dispatcher, on a database of their own with a manual clock. */
export type WebhookStage = {
  database: TestDatabase;
  db: Database;
  clock: FixedClock;
  encrypter: Encrypter;
  outbound: Outbound;
  hooks: HookServer;
  delivery: Delivery;
  newId: () => string;
  project(): Promise<number>;
  endpoint(
    projectId: number,
    path: string,
    more?: Partial<NewEndpoint>,
  ): Promise<{ id: string; secret: string }>;
  /** Queues this many events in one commit, as an outcome does. Returns their ids. */
  queue(projectId: number, count?: number, more?: { type?: string; userId?: string }): Promise<string[]>;
  /** Creates another dispatcher, as in another process. */
  another(more?: Partial<Pick<Outbound, 'post'>>): Delivery;
  /** Runs rounds until no work is left at this moment. */
  settle(): Promise<void>;
  /** Moves to each moment with due work on the way, and does it. */
  advance(ms: number): Promise<void>;
  /** Returns when the next work is due, at most `until`. */
  nextAlarm(until: number): Promise<number | null>;
  deliveries(projectId: number): Promise<DeliverySummary[]>;
  /** Removes all deliveries and state of earlier tests. */
  forget(): Promise<void>;
  close(): Promise<void>;
};

export const AGENT = 'Beckon-Webhooks/0.0.0';

export async function webhookStage(outboundMs = 15_000, existing?: TestDatabase): Promise<WebhookStage> {
  const database = existing ?? (await testDatabase());
  const clock = fixedClock();
  const db = await openDatabase({ connection: database.connection, clock, log: silentLog });
  const encrypter = createEncrypter('a secret of this test alone', null, 'test');
  const outbound = createOutbound({
    allowPrivate: true,
    ca: HOOK_CA,
    connectMs: outboundMs,
    totalMs: outboundMs,
  });
  const hooks = await hookServer();
  const newId = idMaker(db.clock);
  const another: WebhookStage['another'] = (more) =>
    createDelivery({ db, log: silentLog, encrypter, outbound: { ...outbound, ...more }, agent: AGENT });
  const delivery = another();
  const settle = (): Promise<void> => settled(delivery);
  return {
    database,
    db,
    clock,
    encrypter,
    outbound,
    hooks,
    delivery,
    newId,
    another,
    settle,
    project: async () => (await createProject(db, { name: 'Acme' })).id,
    async endpoint(projectId, path, more) {
      const deps = { db, newId, encrypter, rules: { allowPrivate: true } };
      const { endpoint, secret } = await addEndpoint(deps, { projectId, url: hooks.url(path), ...more });
      return { id: endpoint.id, secret };
    },
    queue: (projectId, count = 1, more = {}) => queueDeliveries({ db, newId }, { projectId, count, ...more }),
    async advance(ms) {
      const until = clock.now() + ms;
      await settle();
      for (let at = await nextAlarm(db, until); at !== null; at = await nextAlarm(db, until)) {
        clock.advance(Math.max(0, at - clock.now()));
        await settle();
      }
      clock.advance(until - clock.now());
    },
    nextAlarm: (until) => nextAlarm(db, until),
    async forget() {
      await db.query(
        `UPDATE beckon.webhook_delivery SET state = 'canceled', next_at = NULL WHERE next_at IS NOT NULL`,
      );
      hooks.received.length = 0;
      hooks.setReply(() => ({ status: 204 }));
    },
    deliveries: (projectId) =>
      listDeliveries(db, { projectId, endpointId: null, webhookId: null, states: null, limit: 10_000 }),
    async close() {
      outbound.close();
      await hooks.close();
      await db.close();
      await database.drop();
    },
  };
}

export async function settled(delivery: Delivery): Promise<void> {
  for (let count = 1; count > 0;) {
    const { recorded, claimed } = await delivery.round();
    await delivery.whenIdle();
    count = recorded + claimed + delivery.unrecordedCount();
  }
}

type Queued = { projectId: number; count: number; type?: string; userId?: string };

async function queueDeliveries(
  { db, newId }: { db: Database; newId: () => string },
  { projectId, count, type = 'email.opened', userId = 'ann' }: Queued,
): Promise<string[]> {
  const now = db.clock.now();
  const ids = Array.from({ length: count }, newId);
  await db.transaction(async (tx) => {
    const webhooks = ids.map((id) => {
      const body = JSON.stringify({
        id: webhookName(id),
        type,
        timestamp: iso(now),
        data: { said: 'Grüße 👋' },
      });
      return { projectId, id, outcomeId: id, type, userId, body, createdAt: now };
    });
    await insertWebhooks(tx, webhooks);
    await setTimersEarlier(tx, 'webhooks', [{ projectId, nextAt: new Date(now) }]);
  });
  return ids;
}

/** Fails if the alarm is later than the next due work. */
async function nextAlarm(db: Database, until: number): Promise<number | null> {
  const rows = await db.query<{ project_id: number; at: Date | null }>(
    `SELECT project_id, next_at AS at FROM beckon.project_timer WHERE work = 'webhooks'`,
  );
  const looks = await nextWorkTimes(
    db,
    rows.map((row) => row.project_id),
  );
  for (const { project_id: id, at } of rows) {
    const look = looks.get(id);
    if (look !== undefined && (at === null || at.getTime() > look))
      throw new Error(`the alarm of ${id} is late`);
  }
  const alarms = rows.flatMap(({ at }) => (at !== null && at.getTime() <= until ? [at.getTime()] : []));
  // The conversion from the database loses a fraction of a millisecond.
  return alarms.length === 0 ? null : Math.min(...alarms) + 1;
}
