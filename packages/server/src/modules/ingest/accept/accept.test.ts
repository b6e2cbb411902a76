import { afterAll, expect, test } from 'vitest';
import { sha256 } from '../../../platform/crypto/hash.ts';
import { silentLog } from '../../../platform/log.ts';
import { decodeChunk } from '../queue/chunk.ts';
import { openDatabase } from '../../../platform/db/database.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { testDatabase } from '../../../../testing/factories/database.ts';
import { createKey, revokeKey } from '../keys/change-key.ts';
import { createProject } from '../../administration/create-project.ts';
import { suspendProject } from '../../administration/suspend-project.ts';
import { type Accept, createAccept } from './accept.ts';
import type { IngestEntry } from './entry.ts';

const database = await testDatabase();
const clock = fixedClock();
const db = await openDatabase({ connection: database.connection, clock, log: silentLog });
const pepper = Buffer.alloc(32, 7);
afterAll(async () => {
  await db.close();
  await database.drop();
});

const server = (): Accept => createAccept({ db, log: silentLog });
const serverA = server();
const serverB = server();

/** Blocks every flush between its locks and its commit until released, by locking the queue table. */
async function holdFlushes(): Promise<{ reached(): Promise<void>; release(): Promise<void> }> {
  const blocker = await db.session();
  await blocker.script('BEGIN; LOCK TABLE beckon.ingest_queue IN EXCLUSIVE MODE');
  return {
    async reached() {
      for (;;) {
        const waiting = await db.query(
          `SELECT 1 FROM pg_locks l WHERE NOT l.granted AND l.relation = 'beckon.ingest_queue'::regclass`,
        );
        if (waiting.length > 0) return;
      }
    },
    async release() {
      await blocker.script('COMMIT');
      blocker.release();
    },
  };
}

async function project(): Promise<IngestEntry['key']> {
  const { id } = await createProject(db, { name: 'Acme' });
  const key = await createKey({ db, pepper }, { projectId: id, label: 'server' });
  return { id: key.id, projectId: id, last4: key.secret.slice(-4) };
}

type EntryInput = [once: string | null, body?: string, more?: Partial<IngestEntry>];

function entry(key: IngestEntry['key'], ...[once, body = 'a', more = {}]: EntryInput): IngestEntry {
  return {
    key,
    once: once === null ? null : { key: sha256(once).slice(0, 32), fingerprint: sha256(body) },
    kind: 'events',
    records: 1,
    parts: JSON.stringify({ external_user_id: 'u', name: body }),
    reply: { status: 202, body: null },
    ...more,
  };
}

async function stored(projectId: number): Promise<{ seq: number; records: unknown[] }[]> {
  const rows = await db.query<{ seq: number; body: Buffer }>(
    'SELECT seq, body FROM beckon.ingest_queue WHERE project_id = $1 ORDER BY seq',
    [projectId],
  );
  return rows.map((row) => ({ seq: row.seq, records: decodeChunk(row.body) }));
}

async function queue(projectId: number) {
  const [row] = await db.query<{ next_seq: number; waiting: number }>(
    'SELECT next_seq, waiting FROM beckon.ingest_queue_state WHERE project_id = $1',
    [projectId],
  );
  return row;
}

test('stores each request in the ingest queue once, in sequence, and counts it', async () => {
  const key = await project();
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, i) => serverA.store(entry(key, `k${i}`, `b${i}`), 'live')),
  );
  expect(results).toEqual(Array(50).fill({ state: 'stored' }));
  const chunks = await stored(key.projectId);
  expect(chunks.flatMap((chunk) => chunk.records)).toHaveLength(50);
  expect(await queue(key.projectId)).toEqual({ next_seq: 51, waiting: 50 });
  expect(chunks[0]?.seq).toBe(1);
});

test('stores one of 100 identical concurrent requests and answers the others with the first reply', async () => {
  const key = await project();
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, i) => (i % 2 ? serverA : serverB).store(entry(key, 'twin'), 'live')),
  );
  expect(results.filter((result) => result.state === 'stored')).toHaveLength(1);
  expect(results.filter((result) => result.state === 'replayed')).toHaveLength(99);
  expect(await queue(key.projectId)).toEqual({ next_seq: 2, waiting: 1 });
});

test('reports a reused Idempotency-Key with another body, and stores the rest of the flush', async () => {
  const key = await project();
  await serverA.store(entry(key, 'k', 'first'), 'live');
  const results = await Promise.all([
    serverA.store(entry(key, 'k', 'second'), 'live'),
    serverA.store(entry(key, 'other', 'third'), 'live'),
    serverA.store(entry(key, null, 'fourth'), 'live'),
  ]);
  expect(results.map((result) => result.state)).toEqual(['reused', 'stored', 'stored']);
  const names = (await stored(key.projectId))
    .flatMap((chunk) => chunk.records)
    .map((r) => (r as { name: string }).name);
  expect(names.toSorted()).toEqual(['first', 'fourth', 'third']);
  expect(await queue(key.projectId)).toEqual({ next_seq: 4, waiting: 3 });
});

test('stores users and events of one flush as two chunks with separate sequences', async () => {
  const key = await project();
  await Promise.all([
    serverA.store(entry(key, null, 'e1'), 'live'),
    serverA.store(entry(key, null, 'u1', { kind: 'users' }), 'live'),
    serverA.store(entry(key, null, 'e2'), 'live'),
  ]);
  expect((await stored(key.projectId)).map((chunk) => chunk.records.length)).toEqual([1, 2]);
  expect((await stored(key.projectId)).map((chunk) => chunk.seq)).toEqual([1, 2]);
});

test('replays the status and the exact body of the first reply', async () => {
  const key = await project();
  const reply = { status: 200, body: '{"data":{"accepted":0,"rejected":1}}' };
  await serverA.store(entry(key, 'k', 'b', { reply, records: 0, parts: '' }), 'bulk');
  expect(
    await serverB.store(entry(key, 'k', 'b', { reply: { status: 200, body: 'other' } }), 'bulk'),
  ).toEqual({
    state: 'replayed',
    reply,
  });
  expect(await stored(key.projectId)).toEqual([]);
});

test('stores only one of two requests with the same Idempotency-Key in different priorities', async () => {
  const key = await project();
  const results = await Promise.all([
    serverA.store(entry(key, 'k', 'a'), 'live'),
    serverA.store(entry(key, 'k', 'b'), 'bulk'),
  ]);
  expect(results.map((result) => result.state).toSorted()).toEqual(['reused', 'stored']);
});

test('ends the idempotency window 24 hours after the first acceptance, without sliding', async () => {
  const key = await project();
  await serverA.store(entry(key, 'k', 'a'), 'live');
  clock.advance(24 * 3_600_000 - 1);
  expect((await serverA.store(entry(key, 'k', 'a'), 'live')).state).toBe('replayed');
  clock.advance(1);
  expect((await serverA.store(entry(key, 'k', 'b'), 'live')).state).toBe('stored');
  expect((await serverA.store(entry(key, 'k', 'b'), 'live')).state).toBe('replayed');
});

test('keeps Idempotency-Keys of different projects independent', async () => {
  const [a, b] = [await project(), await project()];
  const results = await Promise.all([
    serverA.store(entry(a, 'k', 'a'), 'live'),
    serverA.store(entry(b, 'k', 'b'), 'live'),
  ]);
  expect(results.map((result) => result.state)).toEqual(['stored', 'stored']);
});

test('rejects a key revoked before the flush, without consuming its Idempotency-Key', async () => {
  const key = await project();
  await revokeKey(db, { id: key.id });
  const other = await createKey({ db, pepper }, { projectId: key.projectId, label: 'new' });
  const live = { ...key, id: other.id, last4: other.secret.slice(-4) };
  const results = await Promise.all([
    serverA.store(entry(key, 'k', 'dead'), 'live'),
    serverA.store(entry(live, 'k', 'alive'), 'live'),
    serverA.store(entry(live, 'x', 'alive'), 'live'),
  ]);
  expect(results.map((result) => result.state)).toEqual(['key_dead', 'stored', 'stored']);
  expect(await queue(key.projectId)).toMatchObject({ waiting: 2 });
});

test('sees a revocation even if the database defaults to repeatable read', async () => {
  const role = (await db.query<{ name: string }>('SELECT current_database() AS name'))[0]?.name;
  await db.query(`ALTER DATABASE ${role} SET default_transaction_isolation = 'repeatable read'`);
  const strict = await openDatabase({ connection: database.connection, clock, log: silentLog });
  const key = await project();
  const blocker = await strict.session();
  await blocker.script(
    `BEGIN; SELECT 1 FROM beckon.ingest_queue_state WHERE project_id = ${key.projectId} FOR UPDATE`,
  );
  const late = createAccept({ db: strict, log: silentLog }).store(entry(key, 'k'), 'live');
  for (;;) {
    const waiting = await db.query(`SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`);
    if (waiting.length > 0) break;
  }
  await blocker.script(`UPDATE beckon.api_key SET revoked_at = now() WHERE id = '${key.id}'; COMMIT`);
  blocker.release();
  expect(await late).toEqual({ state: 'key_dead' });
  await strict.close();
  await db.query(`ALTER DATABASE ${role} RESET default_transaction_isolation`);
});

test('stores nothing for a suspended project', async () => {
  const key = await project();
  await suspendProject(db, key.projectId);
  expect(await serverA.store(entry(key, 'k'), 'live')).toEqual({ state: 'key_dead' });
  expect(await stored(key.projectId)).toEqual([]);
});

test('makes a revocation wait for a running flush, and rejects the key in every later flush', async () => {
  const key = await project();
  const hold = await holdFlushes();
  const order: string[] = [];
  const first = serverA.store(entry(key, 'k1'), 'live').then((result) => (order.push(result.state), result));
  await hold.reached();
  const revoked = revokeKey(db, { id: key.id }).then(() => order.push('revoked'));
  await hold.release();
  await Promise.all([first, revoked]);
  expect(order).toEqual(['stored', 'revoked']);
  expect(await serverB.store(entry(key, 'k2'), 'live')).toEqual({ state: 'key_dead' });
});

test('enforces the queue cap of 50,000 records exactly across two servers', async () => {
  const key = await project();
  await db.query('UPDATE beckon.ingest_queue_state SET waiting = 49990 WHERE project_id = $1', [
    key.projectId,
  ]);
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, i) => (i % 2 ? serverA : serverB).store(entry(key, `k${i}`), 'bulk')),
  );
  expect(results.filter((result) => result.state === 'stored')).toHaveLength(10);
  expect(await queue(key.projectId)).toMatchObject({ waiting: 50_000 });
  expect((await serverA.store(entry(key, 'late', 'x', { records: 0, parts: '' }), 'bulk')).state).toBe(
    'queue_full',
  );
  expect((await serverA.store(entry(key, 'live'), 'live')).state).toBe('stored');
});

test('replays a reply even if the queue is full, because a replay does no work', async () => {
  const key = await project();
  await serverA.store(entry(key, 'k'), 'bulk');
  await db.query('UPDATE beckon.ingest_queue_state SET waiting = 50000 WHERE project_id = $1', [
    key.projectId,
  ]);
  expect((await serverA.store(entry(key, 'k'), 'bulk')).state).toBe('replayed');
  expect((await serverA.store(entry(key, 'new'), 'bulk')).state).toBe('queue_full');
  await db.query('UPDATE beckon.ingest_queue_state SET waiting = 0 WHERE project_id = $1', [key.projectId]);
  expect((await serverA.store(entry(key, 'new'), 'bulk')).state).toBe('stored');
});

test('fails only the record that the database rejects', async () => {
  const key = await project();
  const bad = entry(key, 'bad', 'x', { reply: { status: 99_999, body: null } });
  const results = await Promise.allSettled([
    serverA.store(entry(key, 'k1'), 'live'),
    serverA.store(bad, 'live'),
    serverA.store(entry(key, 'k2'), 'live'),
  ]);
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await queue(key.projectId)).toMatchObject({ waiting: 2 });
  expect((await serverA.store(entry(key, 'bad'), 'live')).state).toBe('stored');
});

test('stores nothing and returns 503 if the connection is lost before the commit; the retry is stored', async () => {
  const key = await project();
  const hold = await holdFlushes();
  const first = serverA.store(entry(key, 'k'), 'live');
  const refused = expect(first).rejects.toMatchObject({ code: 'server_error', retryAfterS: 1 });
  await hold.reached();
  await db.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND relation = 'beckon.ingest_queue'::regclass`,
  );
  await refused;
  await hold.release();
  expect(await queue(key.projectId)).toEqual({ next_seq: 1, waiting: 0 });
  expect(await serverA.store(entry(key, 'k'), 'live')).toEqual({ state: 'stored' });
});

test('recall returns a reply that is still being committed', async () => {
  const key = await project();
  const hold = await holdFlushes();
  const first = serverA.store(entry(key, 'k', 'a'), 'live');
  const same = serverA.recall(key.projectId, { key: sha256('k').slice(0, 32), fingerprint: sha256('a') });
  const other = serverA.recall(key.projectId, { key: sha256('k').slice(0, 32), fingerprint: sha256('b') });
  await hold.reached();
  await hold.release();
  await first;
  expect((await same)?.state).toBe('replayed');
  expect((await other)?.state).toBe('reused');
  expect(
    await serverA.recall(key.projectId, { key: sha256('z').slice(0, 32), fingerprint: sha256('a') }),
  ).toBeNull();
});

test('returns 503 to all waiting requests if a commit takes more than 5 seconds', async () => {
  const key = await project();
  const hold = await holdFlushes();
  const waiting = [serverA.store(entry(key, 'k'), 'live'), serverA.store(entry(key, 'k'), 'live')];
  for (const each of waiting)
    await expect(each).rejects.toMatchObject({ code: 'server_error', retryAfterS: 1 });
  await hold.release();
  expect(await serverA.store(entry(key, 'k'), 'live')).toEqual({ state: 'stored' });
  expect(await queue(key.projectId)).toMatchObject({ waiting: 1 });
});

test('drain waits for accepted requests', async () => {
  const key = await project();
  const accept = createAccept({ db, log: silentLog });
  let isDone = false;
  void accept.store(entry(key, 'k'), 'live').then(() => (isDone = true));
  await accept.drain();
  await Promise.resolve();
  expect(isDone).toBe(true);
});
