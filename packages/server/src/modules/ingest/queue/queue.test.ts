import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { createProject } from '../../administration/create-project.ts';
import { countWaiting, listWaiting, lockQueue } from './queue.ts';
import { decodeChunk, encodeChunk, takeChunks } from './chunk.ts';
import { listDead, RETRY_MAX_RECORDS, retryDead } from './dead-letters.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
let projectId: number;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

async function put(priority: string, records: object[], acceptedAt = new Date(clock.now())): Promise<void> {
  await db.query(
    `WITH taken AS (
       UPDATE beckon.ingest_queue_state SET next_seq = next_seq + $3, waiting = waiting + $3 WHERE project_id = $1
       RETURNING next_seq - $3 AS seq
     )
     INSERT INTO beckon.ingest_queue SELECT $1, seq, $2, 'events', $3, $4, $5 FROM taken`,
    [projectId, priority, records.length, encodeChunk(JSON.stringify(records)), acceptedAt],
  );
}

async function die(count: number, dead: { priority?: string; kind?: string; acceptedAt?: Date } = {}) {
  await db.query(
    `INSERT INTO beckon.dead_letter
     SELECT $1, next_seq + n, $3, $4, jsonb_build_object('external_user_id', 'u' || (next_seq + n)), 'bad', $5, $5
     FROM beckon.ingest_queue_state, generate_series(0, $2::int - 1) AS n WHERE project_id = $1`,
    [
      projectId,
      count,
      dead.priority ?? 'live',
      dead.kind ?? 'events',
      dead.acceptedAt ?? new Date(clock.now()),
    ],
  );
  await db.query('UPDATE beckon.ingest_queue_state SET next_seq = next_seq + $2 WHERE project_id = $1', [
    projectId,
    count,
  ]);
}

const chunks = () =>
  db.query<{ seq: number; priority: string; kind: string; records: number; body: Buffer; accepted_at: Date }>(
    'SELECT seq, priority, kind, records, body, accepted_at FROM beckon.ingest_queue WHERE project_id = $1 ORDER BY seq',
    [projectId],
  );
const queue = async () =>
  (
    await db.query<{ next_seq: number; waiting: number }>(
      'SELECT next_seq, waiting FROM beckon.ingest_queue_state WHERE project_id = $1',
      [projectId],
    )
  )[0];

test('decodes the records that were encoded', () => {
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 200 }), (records) => {
      const json = JSON.stringify(records);
      expect(JSON.stringify(decodeChunk(encodeChunk(json)))).toBe(JSON.stringify(JSON.parse(json)));
    }),
  );
});

test('writes a small chunk as plain JSON, compresses a large one, and leaves one that would grow', () => {
  const small = JSON.stringify([{ external_user_id: 'u1' }]);
  expect(encodeChunk(small).toString()).toBe(small);
  const large = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ external_user_id: `user_${i}` })));
  expect(encodeChunk(large).length).toBeLessThan(large.length / 3);
  expect(decodeChunk(encodeChunk(large))).toHaveLength(1_000);
  expect(encodeChunk(large).subarray(0, 4)).toEqual(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));
});

test('keeps a key such as __proto__ as data', () => {
  const json = '[{"traits":{"__proto__":{"admin":true}}}]';
  expect(JSON.stringify(decodeChunk(encodeChunk(json)))).toBe(json);
});

test('rejects a damaged chunk', () => {
  expect(() => decodeChunk(Buffer.from('{"a":1}'))).toThrow('not an array');
  const packed = encodeChunk(JSON.stringify(Array.from({ length: 1_000 }, (_, i) => i)));
  expect(() => decodeChunk(packed.subarray(0, packed.length - 9))).toThrow();
});

test('counts waiting records by priority, with the age of the oldest', async () => {
  expect(await countWaiting(db, projectId)).toEqual({ live: 0, bulk: 0, dead_letters: 0, oldest_ms: 0 });
  await put('bulk', [{}, {}, {}], new Date(clock.now() - 4_000));
  await put('live', [{}]);
  await put('live', [{}, {}]);
  await die(2);
  expect(await countWaiting(db, projectId)).toEqual({ live: 3, bulk: 3, dead_letters: 2, oldest_ms: 4_000 });
  const other = await createProject(db, { name: 'Other' });
  expect(await countWaiting(db, other.id)).toEqual({ live: 0, bulk: 0, dead_letters: 0, oldest_ms: 0 });
});

test('lists the projects with waiting or dead-lettered records, those with the longest wait first', async () => {
  const late = projectId;
  await put('bulk', [{}], new Date(clock.now() - 4_000));
  const quiet = (await createProject(db, { name: 'Quiet' })).id;
  const buried = (projectId = (await createProject(db, { name: 'Buried' })).id);
  await die(2);
  const later = (projectId = (await createProject(db, { name: 'Later' })).id);
  await put('live', [{}, {}], new Date(clock.now() - 9_000));
  const projectIds = [late, quiet, buried, later];
  const listed = (await listWaiting(db, null)).filter((row) => projectIds.includes(row.project.id));
  expect(listed).toEqual([
    { project: { id: later, name: 'Later' }, live: 2, bulk: 0, dead_letters: 0, oldest_ms: 9_000 },
    { project: { id: late, name: 'Acme' }, live: 0, bulk: 1, dead_letters: 0, oldest_ms: 4_000 },
    { project: { id: buried, name: 'Buried' }, live: 0, bulk: 0, dead_letters: 2, oldest_ms: 0 },
  ]);
});

test('puts retried records back in order after accepted ones, with their old time of acceptance', async () => {
  const then = new Date(clock.now() - 60_000);
  await die(2, { acceptedAt: then });
  await die(1, { kind: 'users', priority: 'bulk' });
  await die(1);
  await put('live', [{ external_user_id: 'between' }]);
  expect(await listDead(db, projectId)).toMatchObject([{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: 4 }]);
  expect(await retryDead(db, projectId)).toEqual({ retried: 4 });
  expect(await listDead(db, projectId)).toEqual([]);
  expect(await queue()).toEqual({ next_seq: 10, waiting: 5 });
  const found = (await chunks()).map(({ body, ...rest }) => ({ ...rest, users: decodeChunk(body) }));
  const now = new Date(clock.now());
  const user = (id: string) => ({ external_user_id: id });
  expect(found).toEqual([
    { seq: 5, priority: 'live', kind: 'events', records: 1, accepted_at: now, users: [user('between')] },
    {
      seq: 6,
      priority: 'live',
      kind: 'events',
      records: 2,
      accepted_at: then,
      users: [user('u1'), user('u2')],
    },
    { seq: 8, priority: 'bulk', kind: 'users', records: 1, accepted_at: now, users: [user('u3')] },
    { seq: 9, priority: 'live', kind: 'events', records: 1, accepted_at: now, users: [user('u4')] },
  ]);
});

test('retries many records in several transactions, each record once', async () => {
  const count = RETRY_MAX_RECORDS * 2 + 7;
  await die(count);
  expect(await retryDead(db, projectId)).toEqual({ retried: count });
  expect(await queue()).toEqual({ next_seq: count * 2 + 1, waiting: count });
  const users = (await chunks()).flatMap(({ body }) => decodeChunk(body) as { external_user_id: string }[]);
  expect(users.map((user) => user.external_user_id)).toEqual(
    Array.from({ length: count }, (_, i) => `u${i + 1}`),
  );
});

test('leaves records that are dead-lettered again during a retry for the next one', async () => {
  await die(RETRY_MAX_RECORDS);
  let transactions = 0;
  const redying = {
    ...db,
    async transaction<T>(work: Parameters<typeof db.transaction<T>>[0]): Promise<T> {
      const result = await db.transaction(work);
      transactions += 1;
      await die(1);
      return result;
    },
  };
  expect(await retryDead(redying, projectId)).toEqual({ retried: RETRY_MAX_RECORDS });
  expect(transactions).toBe(2);
  expect(await listDead(db, projectId)).toHaveLength(2);
});

test('retries each record once in two concurrent retries', async () => {
  await die(300);
  const both = await Promise.all([retryDead(db, projectId), retryDead(db, projectId)]);
  expect(both.reduce((sum, { retried }) => sum + retried, 0)).toBe(300);
  expect(await queue()).toMatchObject({ waiting: 300 });
});

test('rejects the queue row of an unknown project', async () => {
  await expect(db.transaction((tx) => lockQueue(tx, 999_999))).rejects.toMatchObject({ code: 'not_found' });
});

test('takes no more chunks of a project than its limit of bytes, however small they are stored', async () => {
  const first = projectId;
  for (let i = 0; i < 3; i += 1) await put('live', [{ text: 'x'.repeat(300_000) }]);
  projectId = (await createProject(db, { name: 'Neighbor' })).id;
  await put('live', [{ text: 'x'.repeat(300_000) }]);
  const limits = { priority: 'live', ofEach: 1_000, ofAll: 1_000, bytes: 400_000 } as const;
  const taken = await takeChunks(db, { projectIds: [first, projectId], ...limits });
  expect(taken.map((chunk) => chunk.projectId)).toEqual([first, first, projectId]);
});
