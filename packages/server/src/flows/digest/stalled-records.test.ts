import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { heldClock } from '../../../testkit/clock.ts';
import { testDatabase } from '../../../testkit/database.ts';
import { testHasher } from '../../../testkit/hasher.ts';
import { putRecords } from '../../../testkit/inbox.ts';
import { idMaker } from '../../base/ids.ts';
import { silentLog } from '../../base/log.ts';
import { listDead } from '../../features/inbox/index.ts';
import { openDatabase } from '../../io/db/index.ts';
import { createProject } from '../create-project.ts';
import { createDigest } from './index.ts';
import { createStalledRecords } from './stalled-records.ts';

const own = await testDatabase();
const clock = heldClock();
/** How long a batch that does not commit keeps the event loop busy. */
let stallMs = 0;
let stalledMs = 0;
const db = await openDatabase({
  connection: own.connection,
  clock,
  log: silentLog,
  reach(point) {
    if (point === 'batch_claimed') stalledMs = stallMs;
    if (point === 'digest_committed') stalledMs = 0;
  },
});
const digest = createDigest({
  db,
  log: silentLog,
  newId: idMaker(db.clock),
  hasher: testHasher,
  watchStalls: () => ({ longestMs: () => stalledMs, end() {} }),
});
afterAll(async () => {
  await db.close();
  await own.drop();
});

// The batch of such an event ends as one does whose connection the database closed.
await db.query(`CREATE FUNCTION lose_connection() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'terminating connection' USING ERRCODE = '57P01'; END $$`);
await db.query(`CREATE TRIGGER lose_connection BEFORE INSERT ON beckon.event FOR EACH ROW
  WHEN (NEW.name = 'poisoned') EXECUTE FUNCTION lose_connection()`);

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  stallMs = 12_000;
  clock.advance(1_000);
});

async function put(total: number, poisoned: number[]): Promise<void> {
  const records = Array.from({ length: total }, (_, i) => ({
    external_user_id: `u${i}`,
    name: poisoned.includes(i) ? 'poisoned' : 'login',
    properties: {},
  }));
  await putRecords(db, { projectId, kind: 'events', records });
}

/** Runs batches as the digester does, until nothing waits. Returns how many of them failed. */
async function digestAll(attemptsMax: number): Promise<number> {
  let failures = 0;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    try {
      if ((await digest.batch('live', [projectId])).records === 0) return failures;
    } catch {
      failures += 1;
    }
  }
  return failures;
}

async function applied(): Promise<number> {
  const rows = await db.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM beckon.event WHERE project_id = $1',
    [projectId],
  );
  return rows[0]?.n ?? 0;
}

describe('a batch that fails after it kept the event loop busy', () => {
  test('is retried with a tenth of its records, and a record that fails alone three times becomes a dead letter', async () => {
    await put(40, [17]);
    // With 40, with 4, and twice with the record alone. At its third attempt it is no longer in the queue.
    expect(await digestAll(200)).toBe(4);
    expect(await applied()).toBe(39);
    expect(await listDead(db, projectId)).toMatchObject([
      {
        record: { external_user_id: 'u17' },
        reason: 'Processing this record failed 3 times, and kept the server busy for 12 s',
      },
    ]);
  });

  test('is tried with full batches again after a minute', async () => {
    await put(40, [0]);
    await digestAll(6);
    expect(await applied()).toBe(1);
    clock.advance(60_000);
    expect((await digest.batch('live', [projectId])).records).toBe(38);
  });

  test('counts the attempts of each record by itself', async () => {
    await put(2, [0, 1]);
    expect(await digestAll(20)).toBe(5);
    expect((await listDead(db, projectId)).map(({ record }) => record)).toMatchObject([
      { external_user_id: 'u0' },
      { external_user_id: 'u1' },
    ]);
  });

  test('makes no dead letter where the server only waited: the database may be down', async () => {
    stallMs = 0;
    await put(1, [0]);
    expect(await digestAll(20)).toBe(20);
    expect(await listDead(db, projectId)).toEqual([]);
  });
});

describe('createStalledRecords', () => {
  const alone = { priority: 'live', projectId: 1, records: 1, stalledMs: 2_000 } as const;

  test('counts again from one when another record is first, because somebody discarded the one before', () => {
    const records = createStalledRecords();
    for (const seq of [1, 1, 2, 2]) expect(records.failed({ ...alone, seq })).toBeNull();
    expect(records.failed({ ...alone, seq: 2 })).toMatch(/^Processing this record failed 3 times/);
  });

  test('counts no batch of several records', () => {
    const records = createStalledRecords();
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect(records.failed({ ...alone, seq: 1, records: 2 })).toBeNull();
  });
});
