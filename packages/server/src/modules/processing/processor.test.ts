import { beforeEach, expect, test } from 'vitest';
import { testHasher } from '../../../testkit/hasher.ts';
import { heldClock } from '../../../testkit/clock.ts';
import { openTestDatabase } from '../../../testkit/database.ts';
import { putRecords } from '../../../testkit/inbox.ts';
import { idMaker } from '../../platform/ids.ts';
import { type Log, silentLog } from '../../platform/log.ts';
import type { IngestPriority } from '../ingest/queue/chunk.ts';
import { createProject } from '../administration/create-project.ts';
import { createDigest, type Digest } from './process.ts';
import { type Digester, startDigester } from './processor.ts';
import { createTroubles } from '../../platform/jobs/failure-backoff.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const real = createDigest({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
let one = 0;
let other = 0;
beforeEach(async () => {
  // Removes records that an earlier test left in the queue.
  await db.query('DELETE FROM beckon.inbox');
  one = (await createProject(db, { name: 'One' })).id;
  other = (await createProject(db, { name: 'Other' })).id;
});

const put = (projectId: number, priority: IngestPriority, records = 1): Promise<number> =>
  putRecords(db, {
    projectId,
    priority,
    kind: 'events',
    records: Array.from({ length: records }, (_, i) => ({
      external_user_id: `u${i}`,
      name: 'x',
      properties: {},
    })),
  });

/** A processor that reports its batches and stops when the test has seen enough. */
function watched(
  digest: Digest,
  { log = silentLog, placesMax = 1_000 }: { log?: Log; placesMax?: number } = {},
): {
  digester: Digester;
  seen: (n: number) => Promise<string[]>;
} {
  const told: string[] = [];
  let enough: { n: number; resolve: () => void } | null = null;
  const tell = (what: string): void => {
    told.push(what);
    if (enough && told.length >= enough.n) enough.resolve();
  };
  const digester = startDigester({
    db,
    log,
    placesMax,
    digest: {
      ...digest,
      async batch(priority, projectIds, records) {
        const done = await digest.batch(priority, projectIds, records);
        if (done.records > 0) tell(`${priority} ${projectIds.join(',')}`);
        return done;
      },
    },
  });
  return {
    digester,
    async seen(n) {
      if (told.length < n) {
        const { promise, resolve } = Promise.withResolvers<void>();
        enough = { n, resolve };
        await promise;
      }
      return told.slice(0, n);
    },
  };
}

const waiting = async (projectId: number): Promise<number | undefined> =>
  (
    await db.query<{ waiting: number }>(`SELECT waiting FROM beckon.ingest_queue WHERE project_id = $1`, [
      projectId,
    ])
  )[0]?.waiting;

test('processes waiting records of every project without a wake-up, and stops after the running batch', async () => {
  await put(one, 'live');
  await put(other, 'live');
  const { digester, seen } = watched(real);
  await seen(1);
  await digester.stop();
  expect([await waiting(one), await waiting(other)]).toEqual([0, 0]);
});

test('processes live records first, and bulk records in at least every fifth batch', async () => {
  let batches = 0;
  for (let i = 0; i < 12; i += 1) await put(one, 'bulk');
  await put(one, 'live');
  // Every batch has one record, and another live record arrives while it is processed.
  const endless: Digest = {
    ...real,
    async batch(priority, projectIds) {
      batches += 1;
      if (batches < 40) await put(one, 'live');
      return real.batch(priority, projectIds, 1);
    },
  };
  const { digester, seen } = watched(endless);
  const order = (await seen(20)).map((told) => told.split(' ')[0]);
  await digester.stop();
  expect(order[0]).toBe('live');
  expect(order.filter((priority) => priority === 'bulk').length).toBeGreaterThanOrEqual(4);
  expect(order.filter((priority) => priority === 'live').length).toBeGreaterThanOrEqual(12);
});

test('pauses a project whose batches fail, without an effect on other projects', async () => {
  await put(one, 'live');
  await put(other, 'live');
  const warned: number[][] = [];
  const log: Log = { ...silentLog, warn: (fields) => warned.push(fields.project_ids as number[]) };
  const failing: Digest = {
    ...real,
    batch: (priority, projectIds, records) =>
      projectIds.includes(one)
        ? Promise.reject(new Error('a table is away'))
        : real.batch(priority, projectIds, records),
  };
  const { digester, seen } = watched(failing, { log });
  expect(await seen(1)).toEqual([`live ${other}`]);
  await digester.stop();
  expect(await waiting(one)).toBe(1);
  expect(new Set(warned[0])).toEqual(new Set([one, other]));
});

test('processes a project again after a failed batch, however busy other projects are', async () => {
  const [low, middle, high] = [
    (await createProject(db, { name: 'Low' })).id,
    (await createProject(db, { name: 'Middle' })).id,
    (await createProject(db, { name: 'High' })).id,
  ];
  await put(middle, 'live');
  let isFirst = true;
  const served = Promise.withResolvers<void>();
  const busy: Digest = {
    ...real,
    async batch(priority, projectIds, records) {
      if (isFirst) {
        isFirst = false;
        for (const id of [low, high]) await put(id, 'live');
        throw new Error('somebody was in the way');
      }
      // Its pause ends soon.
      clock.advance(1_000);
      const done = await real.batch(priority, projectIds, records);
      for (const id of projectIds) if (id !== middle) await put(id, 'live');
      if (projectIds.includes(middle)) served.resolve();
      return done;
    },
  };
  const { digester } = watched(busy);
  await served.promise;
  await digester.stop();
  expect(await waiting(middle)).toBe(0);
});

test('grows the pause with every failure, ends it with the first success, and finds the failing project by trying each alone', () => {
  const troubles = createTroubles(() => 1);
  expect(troubles.together([1, 2, 3])).toEqual([1, 2, 3]);
  expect(troubles.failed([1, 2], 0)).toBe(0);
  expect(troubles.together([1, 2, 3])).toEqual([1]);
  expect(troubles.together([3, 1, 2])).toEqual([3]);
  const first = troubles.failed([1], 0);
  const second = troubles.failed([1], first);
  expect(second).toBeGreaterThan(first);
  expect(troubles.isOpen(1, first + second - 1)).toBe(false);
  expect(troubles.isOpen(1, first + second)).toBe(true);
  troubles.passed([1, 2]);
  expect(troubles.together([1, 2, 3])).toEqual([1, 2, 3]);
});

test('pauses a project whose emails blocked the process for nine times as long, at most for two minutes', () => {
  const troubles = createTroubles(() => 1);
  expect(troubles.blocked(1, 0, 3_000)).toBe(27_000);
  expect(troubles.isOpen(1, 26_999)).toBe(false);
  expect(troubles.isOpen(1, 27_000)).toBe(true);
  expect(troubles.isOpen(2, 0)).toBe(true);
  expect(troubles.together([2, 1])).toEqual([2]);
  expect(troubles.blocked(1, 0, 60_000)).toBe(120_000);
});

test('processes other projects after a batch that blocked the process', async () => {
  await put(one, 'live');
  let blocked = new Map<number, number>();
  const blocking: Digest = {
    ...real,
    async batch(priority, projectIds, records) {
      const done = await real.batch(priority, projectIds, records);
      if (done.records === 0 || !projectIds.includes(one)) return done;
      blocked = new Map([[one, 2_000]]);
      // More records of the same project wait immediately, and then records of another.
      for (const id of [one, other]) await put(id, 'live');
      return done;
    },
    takeSlow() {
      const taken = blocked;
      blocked = new Map();
      return taken;
    },
  };
  const { digester, seen } = watched(blocking);
  expect(await seen(2)).toEqual([`live ${one}`, `live ${other}`]);
  expect(await waiting(one)).toBe(1);
  clock.advance(18_000);
  expect((await seen(3)).at(-1)).toBe(`live ${one}`);
  await digester.stop();
});

test('processes the project with the highest id while the others always have waiting records', async () => {
  const ids: number[] = [];
  for (let i = 0; i < 6; i += 1) ids.push((await createProject(db, { name: `P${i}` })).id);
  for (const id of ids) await put(id, 'live');
  const last = ids.at(-1) ?? 0;
  const served = Promise.withResolvers<void>();
  // All projects but the last get new records as soon as theirs are processed.
  const busy: Digest = {
    ...real,
    async batch(priority, projectIds, records) {
      const done = await real.batch(priority, projectIds, records);
      for (const id of projectIds) if (id !== last) await put(id, 'live');
      if (projectIds.includes(last)) served.resolve();
      return done;
    },
  };
  const { digester } = watched(busy, { placesMax: 2 });
  await served.promise;
  await digester.stop();
  expect(await waiting(last)).toBe(0);
});
