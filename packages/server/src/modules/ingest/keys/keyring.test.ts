import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { type Log, silentLog } from '../../../platform/log.ts';
import { createKey as createKeyOf, revokeKey } from './change-key.ts';
import { createProject } from '../../administration/create-project.ts';
import { resumeProject, suspendProject } from '../../administration/suspend-project.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { keyring, type Keyring } from './keyring.ts';
import type { VerifiedKey } from './key.ts';

const db = await openTestDatabase(fixedClock());

const pepper = { current: Buffer.alloc(32, 1), previous: null };
const project = await createProject(db, { name: 'Acme' });
const newKey = (label = 'server') =>
  createKeyOf({ db, pepper: pepper.current }, { projectId: project.id, label });

let ring: Keyring;
beforeEach(async () => {
  ring = keyring({ db, pepper, log: silentLog });
  await db.query('DELETE FROM beckon.api_key');
});

async function verified(ofRing: Keyring, secret: string): Promise<VerifiedKey> {
  const verification = await ofRing.verify(secret);
  if (verification.state === 'unknown') throw new Error('unknown');
  return verification.key;
}

test('verifies a new secret for its project, and then returns it without a query', async () => {
  const { id, secret } = await newKey();
  expect(ring.cached(secret)).toBeUndefined();
  const key = { id, projectId: project.id, last4: secret.slice(-4), livemode: true };
  expect(await ring.verify(secret)).toEqual({ state: 'live', key });
  expect(ring.cached(secret)).toEqual(key);
});

test('never stores a secret', async () => {
  const { secret } = await newKey();
  const [row] = await db.query<{ text: string }>(`SELECT api_key::text AS text FROM beckon.api_key`);
  for (let from = 0; from + 5 <= secret.length; from += 1) {
    const piece = secret.slice(from, from + 5);
    expect(row?.text).not.toContain(piece);
    expect(row?.text).not.toContain(Buffer.from(piece).toString('hex'));
  }
});

test('rejects a secret that differs in one character, its environment or its case', async () => {
  const { secret } = await newKey();
  const other = (at: number) => (secret[at] === 'a' ? 'b' : 'a');
  const near = [
    secret.slice(0, 8) + other(8) + secret.slice(9),
    secret.slice(0, 20) + other(20) + secret.slice(21),
    secret.slice(0, -1),
    `${secret}a`,
    secret.replace('sk_live_', 'sk_test_'),
    secret.replace('sk_live_', 'SK_LIVE_'),
    secret.slice(8),
    ` ${secret}`,
    '',
  ];
  for (const wrong of near) expect(await ring.verify(wrong), wrong).toEqual({ state: 'unknown' });
});

test('distinguishes keys with the same last four characters', async () => {
  const [a, b] = [await newKey('a'), await newKey('b')];
  await db.query(`UPDATE beckon.api_key SET last4 = 'same'`);
  // Both are in one bucket now. A secret matches only the row with its own hash.
  const secrets = [a.secret, b.secret].map((secret) => `${secret.slice(0, -4)}same`);
  const { hashSecret } = await import('./key.ts');
  const salt = Buffer.alloc(16, 7);
  for (const [i, key] of [a, b].entries())
    await db.query(`UPDATE beckon.api_key SET salt = $2, hash = $3 WHERE id = $1`, [
      key.id,
      salt,
      hashSecret(pepper.current, salt, secrets[i] ?? ''),
    ]);
  expect((await verified(ring, secrets[0] ?? '')).id).toBe(a.id);
  expect((await verified(ring, secrets[1] ?? '')).id).toBe(b.id);
});

test('rejects a revoked key at the next request', async () => {
  const { id, secret } = await newKey();
  const key = await verified(ring, secret);
  expect(await ring.check(key)).toBe('live');
  await revokeKey(db, { id });
  expect(await ring.check(key)).toBe('revoked');
  expect(ring.cached(secret)).toBeUndefined();
  expect(await ring.verify(secret)).toEqual({ state: 'unknown' });
});

test('forgets a key that a flush found revoked', async () => {
  const { secret } = await newKey();
  const other = await newKey();
  ring.forget(await verified(ring, secret));
  await ring.verify(other.secret);
  expect(ring.cached(secret)).toBeUndefined();
  expect(ring.cached(other.secret)).toBeDefined();
});

test('rejects the keys of a suspended project, and accepts them again after it resumes', async () => {
  const { secret } = await newKey();
  const key = await verified(ring, secret);
  await suspendProject(db, project.id);
  expect(await ring.check(key)).toBe('suspended');
  expect(ring.cached(secret)).toBeUndefined();
  expect(await ring.verify(secret)).toEqual({ state: 'suspended', key });
  expect(ring.cached(secret)).toBeUndefined();
  await resumeProject(db, project.id);
  expect((await ring.verify(secret)).state).toBe('live');
  expect(await ring.check(key)).toBe('live');
});

test('accepts no key under another pepper', async () => {
  const { secret } = await newKey();
  const other = keyring({
    db,
    pepper: { current: Buffer.alloc(32, 2), previous: null },
    log: silentLog,
  });
  expect(await other.verify(secret)).toEqual({ state: 'unknown' });
});

test('accepts a key made under the previous pepper, and needs that pepper only once', async () => {
  const { id, secret } = await newKey();
  const next = Buffer.alloc(32, 2);
  const during = keyring({ db, pepper: { current: next, previous: pepper.current }, log: silentLog });
  expect((await verified(during, secret)).id).toBe(id);
  const after = keyring({ db, pepper: { current: next, previous: null }, log: silentLog });
  expect((await verified(after, secret)).id).toBe(id);
  expect(await ring.verify(secret)).toEqual({ state: 'unknown' });
});

test('accepts a key whose hash cannot be renewed, and logs the failure', async () => {
  const { id, secret } = await newKey();
  const events: string[] = [];
  const log: Log = { ...silentLog, warn: (_, event) => events.push(event) };
  const readOnly: Tx = {
    prepared: (query) => db.prepared(query),
    query: () => Promise.reject(new Error('read only')),
  };
  const during = keyring({
    db: readOnly,
    pepper: { current: Buffer.alloc(32, 2), previous: pepper.current },
    log,
  });
  expect((await verified(during, secret)).id).toBe(id);
  expect(events).toEqual(['api_key.hash_not_renewed']);
});

/** A database whose statements hold their results back until they are released. */
function holdResults(): {
  tx: Tx;
  queries: string[][];
  release(): void;
  reached(count: number): Promise<void>;
} {
  const queries: string[][] = [];
  const held: (() => void)[] = [];
  let watcher: { count: number; resolve: () => void } | undefined;
  const tx: Tx = {
    query: (text, values) => db.query(text, values),
    async prepared(query) {
      const rows = await db.prepared(query);
      if (query.name === 'keys.listProjectStates') return rows as never[];
      queries.push(query.values[0] as string[]);
      if (watcher && queries.length >= watcher.count) watcher.resolve();
      await new Promise<void>((resolve) => held.push(resolve));
      return rows as never[];
    },
  };
  return {
    tx,
    queries,
    release: () => held.shift()?.(),
    reached: (count) =>
      queries.length >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            watcher = { count, resolve };
          }),
  };
}

test('verify never uses a query that started before the call', async () => {
  const { id, secret } = await newKey();
  const held = holdResults();
  const slow = keyring({ db: held.tx, pepper, log: silentLog });
  const early = slow.verify(secret);
  await held.reached(1);
  await revokeKey(db, { id });
  const late = slow.verify(secret);
  held.release();
  expect((await early).state).toBe('live');
  await held.reached(2);
  held.release();
  expect(await late).toEqual({ state: 'unknown' });
});

test('check never uses a query that started before the call', async () => {
  const { id, secret } = await newKey();
  const key = await verified(ring, secret);
  const held = holdResults();
  const slow = keyring({ db: held.tx, pepper, log: silentLog });
  const early = slow.check(key);
  await held.reached(1);
  await revokeKey(db, { id });
  const late = slow.check(key);
  held.release();
  expect(await early).toBe('live');
  await held.reached(2);
  held.release();
  expect(await late).toBe('revoked');
});

test('runs one query at a time and shares the next one between all waiting callers', async () => {
  const keys = [await newKey('a'), await newKey('b'), await newKey('c')];
  const held = holdResults();
  const slow = keyring({ db: held.tx, pepper, log: silentLog });
  const first = slow.verify(keys[0]?.secret ?? '');
  await held.reached(1);
  const rest = Array.from({ length: 300 }, (_, i) => slow.verify(keys[i % 3]?.secret ?? ''));
  held.release();
  await first;
  await held.reached(2);
  held.release();
  const verifications = await Promise.all(rest);
  expect(verifications.every((verification) => verification.state === 'live')).toBe(true);
  expect(held.queries.map((last4s) => last4s.length)).toEqual([1, 3]);
});

test('fails only the callers of a query that failed', async () => {
  const { secret } = await newKey();
  let broken = true;
  const flaky: Tx = {
    query: (text, values) => db.query(text, values),
    prepared: (query) => (broken ? Promise.reject(new Error('connection lost')) : db.prepared(query)),
  };
  const shaken = keyring({ db: flaky, pepper, log: silentLog });
  await expect(shaken.verify(secret)).rejects.toThrow('connection lost');
  broken = false;
  expect((await shaken.verify(secret)).state).toBe('live');
});
