import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { idMaker } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  countReasons,
  type DecisionCursor,
  eraseDecisions,
  forgetDecisions,
  listDecisionsOf,
  writeDecisions,
} from './store.ts';
import type { Decision } from './decision.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(clock);

let projectId = 0;
let ruleId = '';
beforeEach(() => {
  projectId += 10;
  ruleId = newId();
  clock.advance(1_000);
});

const now = (): number => clock.now();
const decision = (more: Partial<Decision> = {}): Decision => ({
  projectId,
  userId: 'u1',
  ruleId,
  key: '',
  reason: 'only_if',
  detail: {},
  at: now(),
  ...more,
});
const count = async (): Promise<number> =>
  (await db.query('SELECT 1 FROM beckon.decision WHERE project_id = $1', [projectId])).length;
const of = (userId: string, more: { ruleId?: string; limit?: number } = {}) =>
  listDecisionsOf(db, { projectId, userId, limit: 10, ...more });

test('keeps one row per key and reason, with the count, the first and last time, and the latest values', async () => {
  const start = now();
  await writeDecisions(db, [decision({ detail: { plan: 'free' } }), decision({ reason: 'fired' })]);
  clock.advance(1_000);
  const odd = { userId: 'u1', key: `k{"}, \\ 😀` };
  await writeDecisions(db, [
    decision({ at: now() - 1, detail: { plan: 'pro' } }),
    decision({ detail: { plan: null } }),
    decision(odd),
    decision({ projectId: projectId + 1 }),
  ]);
  await writeDecisions(db, []);
  expect(await of('u1')).toEqual([
    { ...decision({ detail: { plan: null } }), count: 3, firstAt: start },
    { ...decision(odd), count: 1, firstAt: now() },
    { ...decision({ reason: 'fired', at: start }), count: 1, firstAt: start },
  ]);
  expect(await listDecisionsOf(db, { projectId: projectId + 1, userId: 'u1', limit: 10 })).toHaveLength(1);
});

test('distinguishes an id and a key that read the same when joined', async () => {
  const pairs = [
    { userId: 'a b', key: 'c' },
    { userId: 'a', key: 'b c' },
    { userId: 'a b c', key: '' },
  ];
  await writeDecisions(
    db,
    pairs.map((pair) => decision(pair)),
  );
  const rows = await Promise.all(pairs.map(({ userId }) => of(userId)));
  expect(rows).toMatchObject(pairs.map((pair) => [{ ...pair, count: 1 }]));
});

test('does not move times back for a late decision', async () => {
  await writeDecisions(db, [decision({ at: now() }), decision({ at: now() - 50 })]);
  await writeDecisions(db, [decision({ at: now() - 90 })]);
  expect(await of('u1')).toMatchObject([{ at: now(), count: 3, firstAt: now() - 50 }]);
});

test('locks rows in one order, whatever the input order, and counts all of them', async () => {
  const write = (tx: Tx, users: string[]) =>
    writeDecisions(
      tx,
      users.map((userId) => decision({ userId })),
    );
  await write(db, ['b', 'c']);
  let other: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await write(tx, ['b']);
    other = db.transaction((waiting) => write(waiting, ['c', 'b']));
    await untilSomebodyWaits();
    // If the other transaction had started with this row, both would deadlock.
    await write(tx, ['c']);
  });
  await other;
  expect(await Promise.all(['b', 'c'].map((userId) => of(userId)))).toMatchObject([
    [{ count: 3 }],
    [{ count: 3 }],
  ]);
});

async function untilSomebodyWaits(): Promise<void> {
  for (;;) {
    const waiting = await db.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (waiting.length > 0) return;
  }
}

test('lists the decisions of a user, optionally of one rule, latest first and up to the limit', async () => {
  const other = newId();
  await writeDecisions(db, [
    decision({ at: now() - 2 }),
    decision({ ruleId: other, at: now() - 1 }),
    decision({ key: 'k' }),
  ]);
  expect((await of('u1')).map(({ ruleId: id, key }) => [id, key])).toEqual([
    [ruleId, 'k'],
    [other, ''],
    [ruleId, ''],
  ]);
  expect(await of('u1', { ruleId: other })).toMatchObject([{ ruleId: other }]);
  expect(await of('u1', { limit: 1 })).toMatchObject([{ key: 'k' }]);
});

test('counts the decisions of a rule since a time by users and keys', async () => {
  await writeDecisions(db, [
    decision({ at: now() - 10, reason: 'too_old' }),
    ...['u1', 'u2', 'u2'].map((userId) => decision({ userId })),
    decision({ reason: 'fired' }),
    decision({ ruleId: newId(), reason: 'filter' }),
  ]);
  const count = (since: number) => countReasons(db, { projectId, ruleId, since });
  expect(await count(now())).toEqual(
    new Map([
      ['only_if', 2],
      ['fired', 1],
    ]),
  );
  expect((await count(now() - 10)).get('too_old')).toBe(1);
  expect(await count(now() + 1)).toEqual(new Map());
});

async function draftOf(
  userId: string,
  key: string,
  state: 'scheduled' | 'sent' = 'scheduled',
): Promise<void> {
  const ended = state === 'sent' ? new Date(now()) : null;
  await db.query(
    `INSERT INTO beckon.draft (project_id, id, rule_id, version, step, external_user_id, key, state, subject, preheader, body, format,
       content_hash, is_edited, facts, priority, counts, moves, created_at, updated_at, ended_at)
     VALUES ($1, $2, $3, 1, 0, $4, $5, $6, '', '', '', 'markdown', '', false, '{}', 0, true, 1, $7, $7, $8)`,
    [projectId, newId(), ruleId, userId, key, state, new Date(now()), ended],
  );
}

test('deletes rows that have not changed for long, but keeps "fired" while its draft exists', async () => {
  const old = { at: now() - 1 };
  await draftOf('u1', 'k');
  await draftOf('u2', '', 'sent');
  await writeDecisions(db, [
    decision({ ...old, key: 'k', reason: 'fired' }),
    decision({ ...old, key: 'k', reason: 'filter' }),
    decision({ ...old, key: 'another', reason: 'fired' }),
    decision({ ...old, userId: 'u2', reason: 'fired' }),
    decision({ ...old, ruleId: newId(), key: 'k', reason: 'fired' }),
    decision({ ...old, userId: 'u3' }),
    decision({ userId: 'u3', reason: 'too_old' }),
    decision({ ...old, projectId: projectId + 1 }),
  ]);
  // This row has changed since.
  await writeDecisions(db, [decision({ userId: 'u4', ...old }), decision({ userId: 'u4' })]);
  const forget = (from: DecisionCursor | null, limit: number) =>
    forgetDecisions(db, { projectId, before: new Date(now()), from, limit });
  let steps = 1;
  for (let from = await forget(null, 2); from; from = await forget(from, 2)) steps += 1;
  // Six rows are old, and two of them are kept.
  expect([steps, await count()]).toEqual([4, 4]);
  const kept = await Promise.all(['u1', 'u2', 'u3', 'u4'].map((userId) => of(userId)));
  expect(kept).toMatchObject([
    [{ key: 'k', ruleId, reason: 'fired' }],
    [{ reason: 'fired' }],
    [{ reason: 'too_old' }],
    [{ count: 2 }],
  ]);
  expect(await listDecisionsOf(db, { projectId: projectId + 1, userId: 'u1', limit: 10 })).toHaveLength(1);
  // Without its draft it is deleted like any other row.
  await db.query(`DELETE FROM beckon.draft WHERE project_id = $1`, [projectId]);
  expect([await forget(null, 10), await count()]).toEqual([null, 2]);
});

test('reads kept rows once and not again in each step', async () => {
  const rows = 10_000;
  const at = `$3::timestamptz + n * interval '1 second'`;
  const params = [projectId, ruleId, new Date(now()), rows];
  await db.query(
    `INSERT INTO beckon.draft (project_id, id, rule_id, version, step, external_user_id, key, state, subject, preheader, body, format,
       content_hash, is_edited, facts, priority, counts, moves, created_at, updated_at, ended_at)
     SELECT $1, gen_random_uuid(), $2::uuid, 1, 0, 'u' || n, '', 'sent', '', '', '', 'markdown', '', false, '{}', 0, true, 1, ${at}, ${at}, ${at}
     FROM generate_series(1, $4::int) n`,
    params,
  );
  await db.query(
    `INSERT INTO beckon.decision (project_id, external_user_id, rule_id, key, reason, count, first_at, last_at, detail)
     SELECT $1, 'u' || n, $2::uuid, '', 'fired', 1, ${at}, ${at}, '{}' FROM generate_series(1, $4::int) n`,
    params,
  );
  await db.query('VACUUM ANALYZE beckon.decision, beckon.draft');
  type Plan = { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } };
  let blocks = Infinity;
  const explaining: Tx = {
    prepared: (query) => db.prepared(query),
    async query(text, values) {
      const rows = await db.query<{ 'QUERY PLAN': Plan[] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      );
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
      blocks = (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
      return [];
    },
  };
  const reached = rows - 100;
  const from = {
    ruleId,
    at: new Date(now() + reached * 1_000),
    userId: `u${reached}`,
    key: '',
    reason: 'fired',
  };
  clock.advance((rows + 1) * 1_000);
  await forgetDecisions(explaining, { projectId, before: new Date(now()), from, limit: 1_000 });
  expect(blocks).toBeGreaterThan(0);
  expect(blocks).toBeLessThan(2_000);
  expect(await count()).toBe(rows);
});

test('skips a row that another transaction is writing', async () => {
  await writeDecisions(db, [decision({ at: now() - 1 }), decision({ userId: 'u2', at: now() - 1 })]);
  await db.transaction(async (tx) => {
    await writeDecisions(tx, [decision()]);
    const input = { projectId, before: new Date(now()), from: null, limit: 10 };
    expect(await forgetDecisions(db, input)).toBe(null);
  });
  expect([await of('u1'), await of('u2')]).toMatchObject([[{ count: 2 }], []]);
});

test('deletes all decisions about an erased user', async () => {
  await writeDecisions(db, [decision(), decision({ reason: 'fired' }), decision({ userId: 'u2' })]);
  expect(await eraseDecisions(db, { projectId, userId: 'u1' })).toBe(2);
  expect([await of('u1'), await of('u2')]).toMatchObject([[], [{ userId: 'u2' }]]);
});
