import { idMaker } from '../src/platform/ids.ts';
import { silentLog } from '../src/platform/log.ts';
import { listBuilding } from '../src/modules/audiences/build-version.ts';
import { duePlaces } from '../src/platform/locks/timers.ts';
import { createDigest, type Digest } from '../src/modules/processing/process.ts';
import { createSender, type DueDraftSender } from '../src/modules/delivery/send-due-drafts.ts';
import type { Mailroom } from '../src/modules/delivery/mailroom.ts';
import type { Database } from '../src/platform/db/database.ts';
import { testHasher } from './hasher.ts';
import type { HeldClock } from './clock.ts';
import { type TestTransport, testTransport } from './transport.ts';
import { testMailroom, TOKEN_KEYS } from './mailroom.ts';

/**
 * Processing and sending without a worker. No timer runs, and time moves only when the test moves it. At every due moment exactly the due
 * work is done.
 */
export type Engine = {
  digest: Digest;
  sender: DueDraftSender;
  transport: TestTransport;
  /** Processes all waiting records and does the due work until none is left. */
  settle(): Promise<void>;
  /** Moves to each moment with due work on the way, and does it. */
  advance(ms: number): Promise<void>;
};

export type EngineOptions = { mailroom?: Partial<Mailroom>; slots?: number };

export function openEngine(db: Database, clock: HeldClock, options: EngineOptions = {}): Engine {
  const newId = idMaker(db.clock);
  const transport = testTransport(options.slots);
  const mailroom = testMailroom(options.mailroom);
  const digest = createDigest({ db, log: silentLog, newId, hasher: testHasher });
  const sender = createSender({ db, log: silentLog, newId, transport, mailroom, tokenKeys: TOKEN_KEYS });

  async function settle(): Promise<void> {
    for (let done = 1; done > 0;) {
      done = 0;
      for (const priority of ['live', 'bulk'] as const) {
        const waiting = await waitingIn(db, priority);
        if (waiting.length > 0) done += (await digest.batch(priority, waiting)).records;
      }
      done += await buildAll(db, digest);
      const now = new Date(db.clock.now());
      for (const { projectId } of await duePlaces(db, { work: 'process', now, limit: 1_000 })) {
        done += 1;
        await digest.due(projectId);
      }
      const isOpen = await sender.mayLeave();
      for (const { projectId } of isOpen ? await duePlaces(db, { work: 'send', now, limit: 1_000 }) : []) {
        done += 1;
        await sender.batch(projectId);
      }
    }
  }

  return {
    digest,
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
    `SELECT DISTINCT project_id FROM beckon.inbox WHERE priority = $1 ORDER BY 1`,
    [priority],
  );
  return rows.map((row) => row.project_id);
}

async function buildAll(db: Database, digest: Digest): Promise<number> {
  const places = await listBuilding(db, 1_000);
  for (const place of places) await digest.build(place);
  return places.length;
}

async function nextAlarm(db: Database, until: number): Promise<number | null> {
  const rows = await db.query<{ at: Date | null }>(
    `SELECT min(next_at) AS at FROM beckon.tenant_due WHERE next_at <= $1 AND work IN ('process', 'send')`,
    [new Date(until)],
  );
  return rows[0]?.at?.getTime() ?? null;
}
