import { beforeEach, expect, test } from 'vitest';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { type Log, silentLog } from '../../platform/log.ts';
import type { IngestPriority } from '../ingest/queue/chunk.ts';
import { createProject } from '../administration/create-project.ts';
import { createProcessor, type Processor } from './process.ts';
import { startProcessor } from './processor.ts';
import type { Loop } from '../../platform/jobs/run-loop.ts';
import { createFailureBackoff } from '../../platform/jobs/failure-backoff.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const real = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
let firstId = 0;
let secondId = 0;
beforeEach(async () => {
  // Removes records that an earlier test left in the queue.
  await db.query('DELETE FROM beckon.ingest_queue');
  firstId = (await createProject(db, { name: 'One' })).id;
  secondId = (await createProject(db, { name: 'Other' })).id;
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
  processor: Processor,
  { log = silentLog, projectsMax = 1_000 }: { log?: Log; projectsMax?: number } = {},
): {
  loop: Loop;
  seen: (n: number) => Promise<string[]>;
} {
  const lines: string[] = [];
  let enough: { n: number; resolve: () => void } | null = null;
  const report = (what: string): void => {
    lines.push(what);
    if (enough && lines.length >= enough.n) enough.resolve();
  };
  const loop = startProcessor({
    db,
    log,
    projectsMax,
    processor: {
      ...processor,
      async batch(priority, projectIds, records) {
        const result = await processor.batch(priority, projectIds, records);
        if (result.records > 0) report(`${priority} ${projectIds.join(',')}`);
        return result;
      },
    },
  });
  return {
    loop,
    async seen(n) {
      if (lines.length < n) {
        const { promise, resolve } = Promise.withResolvers<void>();
        enough = { n, resolve };
        await promise;
      }
      return lines.slice(0, n);
    },
  };
}

const waiting = async (projectId: number): Promise<number | undefined> =>
  (
    await db.query<{ waiting: number }>(
      `SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1`,
      [projectId],
    )
  )[0]?.waiting;

test('processes waiting records of every project without a wake-up, and stops after the running batch', async () => {
  await put(firstId, 'live');
  await put(secondId, 'live');
  const { loop, seen } = watched(real);
  await seen(1);
  await loop.stop();
  expect([await waiting(firstId), await waiting(secondId)]).toEqual([0, 0]);
});

test('processes live records first, and bulk records in at least every fifth batch', async () => {
  let batches = 0;
  for (let i = 0; i < 12; i += 1) await put(firstId, 'bulk');
  await put(firstId, 'live');
  // Every batch has one record, and another live record arrives while it is processed.
  const endless: Processor = {
    ...real,
    async batch(priority, projectIds) {
      batches += 1;
      if (batches < 40) await put(firstId, 'live');
      return real.batch(priority, projectIds, 1);
    },
  };
  const { loop, seen } = watched(endless);
  const order = (await seen(20)).map((line) => line.split(' ')[0]);
  await loop.stop();
  expect(order[0]).toBe('live');
  expect(order.filter((priority) => priority === 'bulk').length).toBeGreaterThanOrEqual(4);
  expect(order.filter((priority) => priority === 'live').length).toBeGreaterThanOrEqual(12);
});

test('pauses a project whose batches fail, without an effect on other projects', async () => {
  await put(firstId, 'live');
  await put(secondId, 'live');
  const warned: number[][] = [];
  const log: Log = { ...silentLog, warn: (fields) => warned.push(fields.project_ids as number[]) };
  const failing: Processor = {
    ...real,
    batch: (priority, projectIds, records) =>
      projectIds.includes(firstId)
        ? Promise.reject(new Error('a table is away'))
        : real.batch(priority, projectIds, records),
  };
  const { loop, seen } = watched(failing, { log });
  expect(await seen(1)).toEqual([`live ${secondId}`]);
  await loop.stop();
  expect(await waiting(firstId)).toBe(1);
  expect(new Set(warned[0])).toEqual(new Set([firstId, secondId]));
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
  const busy: Processor = {
    ...real,
    async batch(priority, projectIds, records) {
      if (isFirst) {
        isFirst = false;
        for (const id of [low, high]) await put(id, 'live');
        throw new Error('somebody was in the way');
      }
      // Its pause ends soon.
      clock.advance(1_000);
      const result = await real.batch(priority, projectIds, records);
      for (const id of projectIds) if (id !== middle) await put(id, 'live');
      if (projectIds.includes(middle)) served.resolve();
      return result;
    },
  };
  const { loop } = watched(busy);
  await served.promise;
  await loop.stop();
  expect(await waiting(middle)).toBe(0);
});

test('grows the pause with every failure, ends it with the first success, and finds the failing project by trying each alone', () => {
  const backoff = createFailureBackoff(() => 1);
  expect(backoff.selectBatch([1, 2, 3])).toEqual([1, 2, 3]);
  expect(backoff.recordFailure([1, 2], 0)).toBe(0);
  expect(backoff.selectBatch([1, 2, 3])).toEqual([1]);
  expect(backoff.selectBatch([3, 1, 2])).toEqual([3]);
  const first = backoff.recordFailure([1], 0);
  const second = backoff.recordFailure([1], first);
  expect(second).toBeGreaterThan(first);
  expect(backoff.isOpen(1, first + second - 1)).toBe(false);
  expect(backoff.isOpen(1, first + second)).toBe(true);
  backoff.recordSuccess([1, 2]);
  expect(backoff.selectBatch([1, 2, 3])).toEqual([1, 2, 3]);
});

test('pauses a project whose emails blocked the process for nine times as long, at most for two minutes', () => {
  const backoff = createFailureBackoff(() => 1);
  expect(backoff.recordBlock(1, 0, 3_000)).toBe(27_000);
  expect(backoff.isOpen(1, 26_999)).toBe(false);
  expect(backoff.isOpen(1, 27_000)).toBe(true);
  expect(backoff.isOpen(2, 0)).toBe(true);
  expect(backoff.selectBatch([2, 1])).toEqual([2]);
  expect(backoff.recordBlock(1, 0, 60_000)).toBe(120_000);
});

test('processes other projects after a batch that blocked the process', async () => {
  await put(firstId, 'live');
  let blocked = new Map<number, number>();
  const blocking: Processor = {
    ...real,
    async batch(priority, projectIds, records) {
      const result = await real.batch(priority, projectIds, records);
      if (result.records === 0 || !projectIds.includes(firstId)) return result;
      blocked = new Map([[firstId, 2_000]]);
      // More records of the same project wait immediately, and then records of another.
      for (const id of [firstId, secondId]) await put(id, 'live');
      return result;
    },
    takeSlow() {
      const durations = blocked;
      blocked = new Map();
      return durations;
    },
  };
  const { loop, seen } = watched(blocking);
  expect(await seen(2)).toEqual([`live ${firstId}`, `live ${secondId}`]);
  expect(await waiting(firstId)).toBe(1);
  clock.advance(18_000);
  expect((await seen(3)).at(-1)).toBe(`live ${firstId}`);
  await loop.stop();
});

test('processes the project with the highest id while the others always have waiting records', async () => {
  const ids: number[] = [];
  for (let i = 0; i < 6; i += 1) ids.push((await createProject(db, { name: `P${i}` })).id);
  for (const id of ids) await put(id, 'live');
  const last = ids.at(-1) ?? 0;
  const served = Promise.withResolvers<void>();
  // All projects but the last get new records as soon as theirs are processed.
  const busy: Processor = {
    ...real,
    async batch(priority, projectIds, records) {
      const result = await real.batch(priority, projectIds, records);
      for (const id of projectIds) if (id !== last) await put(id, 'live');
      if (projectIds.includes(last)) served.resolve();
      return result;
    },
  };
  const { loop } = watched(busy, { projectsMax: 2 });
  await served.promise;
  await loop.stop();
  expect(await waiting(last)).toBe(0);
});

test('fills several batches from a poll if more projects wait than a poll lists', async () => {
  const [first] = await db.query<{ id: number }>('SELECT max(project_id) + 1 AS id FROM beckon.project');
  const firstWaiting = Number(first?.id);
  await db.query(
    `INSERT INTO beckon.ingest_queue (project_id, seq, priority, kind, records, body, accepted_at)
     SELECT $1::bigint + n, 1, 'live', 'events', 1, '\\x00', now() FROM generate_series(0, 1999) AS n`,
    [firstWaiting],
  );
  let polls = 0;
  const batches: number[] = [];
  const processed = new Set<number>();
  const enough = Promise.withResolvers<void>();
  const removing: Processor = {
    ...real,
    async batch(_, projectIds) {
      await db.query('DELETE FROM beckon.ingest_queue WHERE project_id = ANY ($1)', [projectIds]);
      for (const projectId of projectIds) processed.add(projectId);
      batches.push(projectIds.length);
      if (processed.size === 2_000) enough.resolve();
      const [projects, records] = [projectIds.length, projectIds.length];
      return {
        projects,
        records,
        events: 0,
        oldestAt: null,
        lastProjectId: projectIds.at(-1) ?? null,
        warnings: [],
      };
    },
  };
  const counted: typeof db = { ...db, session: () => ((polls += 1), db.session()) };
  const loop = startProcessor({ db: counted, log: silentLog, processor: removing });
  await enough.promise;
  await loop.stop();
  expect(batches).toEqual(Array.from({ length: 8 }, () => 250));
  expect(polls).toBeLessThanOrEqual(5);
});
