import { API_KEY_PATTERN } from '@beckon/contract';
import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { createKey, revokeKey } from './change-key.ts';
import { createProject } from '../../administration/create-project.ts';
import { listKeys } from './list-keys.ts';
import { iso } from '../../../platform/time/clock.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const pepper = Buffer.alloc(32, 1);
let projectId: number;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});
const newKey = (label = 'server') => createKey({ db, pepper }, { projectId, label });

test('creates a secret of the documented form and later shows only its ends', async () => {
  const { id, secret, display } = await newKey('checkout server');
  expect(secret).toMatch(API_KEY_PATTERN);
  expect(secret).toMatch(/^sk_live_[0-9A-Za-z]{40}$/);
  expect(display).toBe(`${secret.slice(0, 8)}…${secret.slice(-4)}`);
  expect(await listKeys(db, projectId)).toEqual([
    {
      id,
      env: 'live',
      label: 'checkout server',
      display,
      created_at: iso(db.clock.now()),
      created_by: null,
      last_used_at: null,
      client: null,
      revoked_at: null,
    },
  ]);
});

test('uses a separate salt and hash for each key', async () => {
  await newKey('a');
  await newKey('b');
  const rows = await db.query<{ salts: number; hashes: number }>(
    `SELECT count(DISTINCT salt) AS salts, count(DISTINCT hash) AS hashes FROM beckon.api_key WHERE project_id = $1`,
    [projectId],
  );
  expect(rows).toEqual([{ salts: 2, hashes: 2 }]);
});

test('accepts a label of 1 to 100 characters', async () => {
  for (const label of ['', 'x'.repeat(101), 'a\u0000b', 'two\nlines', '\ud800'])
    await expect(newKey(label)).rejects.toMatchObject({
      code: 'validation_failed',
      details: [{ field: 'label' }],
    });
  await expect(newKey('')).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: label must have 1 to 100 characters, without control characters]`,
  );
  await expect(newKey('x'.repeat(100))).resolves.toMatchObject({ secret: expect.any(String) });
});

test('limits a project to ten active keys, also under concurrency, and does not count revoked ones', async () => {
  const made = await Promise.allSettled(Array.from({ length: 13 }, (_, i) => newKey(`key ${i}`)));
  const keys = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(keys).toHaveLength(10);
  await expect(newKey()).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(newKey()).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: This project has 10 active keys, the most it may have: revoke one that is no longer used]`,
  );
  await revokeKey(db, { id: keys[0]?.id ?? '' });
  await expect(newKey()).resolves.toMatchObject({ id: expect.any(String) });
});

test('revokes a key for good, and keeps the time when it is revoked again', async () => {
  const { id } = await newKey();
  const first = await revokeKey(db, { id });
  clock.advance(60_000);
  expect(await revokeKey(db, { id })).toEqual(first);
  const [listed] = await listKeys(db, projectId);
  expect(listed?.revoked_at).toEqual(first.revokedAt.toISOString());
});

test('returns an error for revoking an unknown key', async () => {
  for (const id of ['0198c5f2-0000-7000-8000-000000000000', 'sk_live_x', ''])
    await expect(revokeKey(db, { id })).rejects.toMatchObject({ code: 'not_found' });
});

test('rejects a key for an unknown project', async () => {
  await expect(createKey({ db, pepper }, { projectId: 999_999, label: 'x' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('revocation waits for a flush that holds the queue row', async () => {
  const { id } = await newKey();
  const flush = await db.session();
  try {
    await flush.script('BEGIN');
    await flush.query('SELECT 1 FROM beckon.ingest_queue_state WHERE project_id = $1 FOR UPDATE', [
      projectId,
    ]);
    let revoked = false;
    const revocation = revokeKey(db, { id }).then(() => {
      revoked = true;
    });
    await lockWaited();
    expect(revoked).toBe(false);
    const seen = await flush.query('SELECT revoked_at FROM beckon.api_key WHERE id = $1', [id]);
    expect(seen).toEqual([{ revoked_at: null }]);
    await flush.script('COMMIT');
    await revocation;
    const after = await flush.query<{ revoked: boolean }>(
      'SELECT revoked_at IS NOT NULL AS revoked FROM beckon.api_key WHERE id = $1',
      [id],
    );
    expect(after).toEqual([{ revoked: true }]);
  } finally {
    flush.release();
  }
});

/** Waits until PostgreSQL reports a session of this database that waits for a lock. */
async function lockWaited(): Promise<void> {
  for (;;) {
    const [row] = await db.query<{ waiting: number }>(
      `SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (row && row.waiting > 0) return;
  }
}
