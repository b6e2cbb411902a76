import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import { listBuilding } from '../../src/modules/audiences/build-version.ts';
import { listDueProjects } from '../../src/platform/locks/timers.ts';
import { createProcessor, type Processor } from '../../src/modules/processing/process.ts';
import { createSender, type DueDraftSender } from '../../src/modules/delivery/send-email.ts';
import type { SendServices } from '../../src/modules/delivery/send-services.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { testHasher, testSendServices, TOKEN_KEYS } from './send-services.ts';
import type { FixedClock } from './clock.ts';
import type { OpenRelayTransport, TransportEmail, Transport } from '../../src/modules/delivery/transport.ts';
import type { SendResult } from '../../src/platform/mail/send-result.ts';

/**
 * Processing and sending without a worker. No timer runs, and time moves only when the test moves it. At every due moment exactly the due
 * work is done.
 */
export type Engine = {
  processor: Processor;
  sender: DueDraftSender;
  transport: TestTransport;
  /** Processes all waiting records and does the due work until none is left. */
  settle(): Promise<void>;
  /** Moves to each moment with due work on the way, and does it. */
  advance(ms: number): Promise<void>;
};

export type EngineOptions = {
  sendServices?: Partial<SendServices>;
  slots?: number;
  /** Opens the relays of projects. Absent: there are none. */
  openRelays?: (db: Database) => OpenRelayTransport;
};

export function openEngine(db: Database, clock: FixedClock, options: EngineOptions = {}): Engine {
  const newId = idMaker(db.clock);
  const transport = testTransport(options.slots);
  const sendServices = testSendServices(options.sendServices);
  const processor = createProcessor({ db, log: silentLog, newId, hasher: testHasher });
  const sender = createSender({
    db,
    log: silentLog,
    newId,
    transport,
    sendServices,
    tokenKeys: TOKEN_KEYS,
    ...(options.openRelays ? { openRelayTransport: options.openRelays(db) } : {}),
  });

  async function settle(): Promise<void> {
    for (let count = 1; count > 0;) {
      count = 0;
      for (const priority of ['live', 'bulk'] as const) {
        const waiting = await waitingIn(db, priority);
        if (waiting.length > 0) count += (await processor.batch(priority, waiting)).records;
      }
      count += await buildAll(db, processor);
      const now = new Date(db.clock.now());
      for (const { projectId } of await listDueProjects(db, { work: 'process', now, limit: 1_000 })) {
        count += 1;
        await processor.timers(projectId);
      }
      const isOpen = await sender.maySend();
      for (const { projectId } of isOpen
        ? await listDueProjects(db, { work: 'send', now, limit: 1_000 })
        : []) {
        count += 1;
        await sender.batch(projectId);
      }
    }
  }

  return {
    processor,
    sender,
    transport,
    settle,
    async advance(ms) {
      const until = clock.now() + ms;
      for (;;) {
        await settle();
        const next = await nextAlarm(db, until);
        if (next === null) break;
        clock.advance(Math.max(0, next - clock.now()));
      }
      clock.advance(until - clock.now());
      await settle();
    },
  };
}

async function waitingIn(db: Database, priority: 'live' | 'bulk'): Promise<number[]> {
  const rows = await db.query<{ project_id: number }>(
    `SELECT DISTINCT project_id FROM beckon.ingest_queue WHERE priority = $1 ORDER BY 1`,
    [priority],
  );
  return rows.map((row) => row.project_id);
}

async function buildAll(db: Database, processor: Processor): Promise<number> {
  const keys = await listBuilding(db, 1_000);
  for (const key of keys) await processor.build(key);
  return keys.length;
}

async function nextAlarm(db: Database, until: number): Promise<number | null> {
  const rows = await db.query<{ at: Date | null }>(
    `SELECT min(next_at) AS at FROM beckon.project_timer WHERE next_at <= $1 AND work IN ('process', 'send')`,
    [new Date(until)],
  );
  return rows[0]?.at?.getTime() ?? null;
}

/** A transport that keeps all emails. The test sets its results; by default each email is sent. */
export type TestTransport = Transport & {
  emails: TransportEmail[];
  /** Sets the result of the next emails. */
  setResult(result: SendResult | ((email: TransportEmail) => Promise<SendResult>)): void;
};

export function testTransport(slots?: number): TestTransport {
  const emails: TransportEmail[] = [];
  let resultFor: (email: TransportEmail) => Promise<SendResult> = () => Promise.resolve({ result: 'sent' });
  return {
    ...(slots === undefined ? {} : { slots }),
    emails,
    setResult(next) {
      resultFor = typeof next === 'function' ? next : () => Promise.resolve(next);
    },
    submit(email) {
      emails.push(email);
      return resultFor(email);
    },
  };
}
