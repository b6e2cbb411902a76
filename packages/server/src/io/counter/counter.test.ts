import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { Fault } from '../../base/fault.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { heldClock } from '../../../testkit/clock.ts';
import { openTestDatabase } from '../../../testkit/database.ts';
import { newBucket } from './bucket.ts';
import { heldWorld } from '../../../testkit/held-world.ts';
import { type Counter, createCounter, type Grant } from './index.ts';
import { createShelf } from './shelf.ts';

const real = await openTestDatabase(systemClock);

const DEFAULTS = {
  large: { rate: 1_000, burst: 2_000 },
  small: { rate: 20, burst: 40 },
  one: { rate: 1, burst: 1 },
};

function setUp() {
  const clock = heldClock();
  const world = heldWorld(real, clock);
  const start = (): Counter =>
    createCounter({ db: world.db, defaults: DEFAULTS, log: silentLog, timer: world.timer });
  return { clock, world, start, counter: start(), project: randomInt(1, 2 ** 47) };
}

/** Asks as the HTTP floor does. */
async function ask(counter: Counter, project: number, name: string): Promise<Grant> {
  return counter.takeNow(project, name) ?? counter.take(project, name);
}

async function askMany(
  counter: Counter,
  { project, name, times }: { project: number; name: string; times: number },
) {
  const grants = await Promise.all(Array.from({ length: times }, () => ask(counter, project, name)));
  return grants.filter((grant) => grant.ok).length;
}

async function tokens(project: number, name: string): Promise<number | undefined> {
  const rows = await real.query<{ tokens: number }>(
    `SELECT tokens FROM beckon.rate_limit WHERE project_id = $1 AND endpoint = $2`,
    [project, name],
  );
  return rows[0]?.tokens;
}

async function setLimit(project: number, name: string, limit: { rate: number; burst: number; at: number }) {
  await real.query(
    `INSERT INTO beckon.rate_limit VALUES ($1, $2, $3, $4, $4, $5)
     ON CONFLICT (project_id, endpoint) DO UPDATE SET rate = $3, burst = $4, tokens = least(rate_limit.tokens, $4)`,
    [project, name, limit.rate, limit.burst, new Date(limit.at)],
  );
}

test('a project without a row gets the defaults, and a row', async () => {
  const { counter, project } = setUp();
  const grant = await ask(counter, project, 'small');
  expect(grant).toEqual({ ok: true, limit: { rate: 20, burst: 40, remaining: 39, resetS: 1 } });
  expect(await tokens(project, 'small')).toBe(38);
});

test('a project with limits of its own gets those', async () => {
  const { clock, counter, project } = setUp();
  await setLimit(project, 'small', { rate: 0.1, burst: 3, at: clock.now() });
  expect(await askMany(counter, { project, name: 'small', times: 5 })).toBe(3);
  const refusal = await ask(counter, project, 'small');
  expect(refusal).toEqual({
    ok: false,
    retryAfterS: 10,
    limit: { rate: 0.1, burst: 3, remaining: 0, resetS: 10 },
  });
});

test('a name without a limit is a defect of ours, not an open door', async () => {
  const { counter, project } = setUp();
  await expect(ask(counter, project, 'nameless')).rejects.toThrow('no rate limit is named nameless');
});

test('an exhausted bucket leaves other endpoints and other projects alone', async () => {
  const { world, counter, project } = setUp();
  expect(await askMany(counter, { project, name: 'small', times: 100 })).toBe(40);
  const others = Promise.all([ask(counter, project, 'large'), ask(counter, project + 1, 'small')]);
  await world.advance(50);
  expect((await others).map((grant) => grant.ok)).toEqual([true, true]);
});

test('the first request after a quiet time is decided without any waiting', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'small');
  await world.advance(5_000);
  // Time stands still here: an answer that hung on the pace would never come.
  expect((await ask(counter, project, 'small')).ok).toBe(true);
});

test('all buckets share one statement, and there is at most one in 50 ms', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'small');
  const before = world.statements();
  const decided = Promise.all(
    Array.from({ length: 200 }, (_, i) => ask(counter, project + 1 + (i % 20), 'one')),
  );
  await world.advance(49);
  expect(world.statements()).toBe(before);
  await world.advance(1);
  expect((await decided).filter((grant) => grant.ok)).toHaveLength(20);
  // The question, the rows that were missing, and the question again.
  expect(world.statements()).toBe(before + 3);
});

test('a refusal is remembered until there is a token, and costs no query until then', async () => {
  const { world, counter, project } = setUp();
  await askMany(counter, { project, name: 'small', times: 100 });
  const before = world.statements();
  for (let ms = 0; ms < 50; ms += 1) {
    for (let i = 0; i < 100; i += 1)
      expect(counter.takeNow(project, 'small')).toMatchObject({ ok: false, retryAfterS: 1 });
    await world.advance(1);
  }
  expect(world.statements()).toBe(before);
  expect((await ask(counter, project, 'small')).ok).toBe(true);
});

test('a long refusal counts down, and is asked about again after a second', async () => {
  const { clock, world, counter, project } = setUp();
  await setLimit(project, 'one', { rate: 0.1, burst: 1, at: clock.now() });
  await askMany(counter, { project, name: 'one', times: 2 });
  const before = world.statements();
  await world.advance(999);
  expect(counter.takeNow(project, 'one')).toMatchObject({ ok: false, retryAfterS: 10 });
  await world.advance(1);
  expect(counter.takeNow(project, 'one')).toBeUndefined();
  expect(await ask(counter, project, 'one')).toMatchObject({
    ok: false,
    retryAfterS: 9,
    limit: { resetS: 9 },
  });
  expect(world.statements()).toBe(before + 1);
  await world.advance(9_000);
  expect((await ask(counter, project, 'one')).ok).toBe(true);
});

test('while a bucket is over half full, a lease holds 2 % of the burst more than wait; below half, not one more', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'large');
  expect(await tokens(project, 'large')).toBe(2_000 - 1 - 40);
  const grants = Promise.all(Array.from({ length: 1_500 }, () => ask(counter, project, 'large')));
  await world.advance(50);
  expect((await grants).every((grant) => grant.ok)).toBe(true);
  const left = await tokens(project, 'large');
  expect(left).toBeLessThan(1_000);
  const next = ask(counter, project, 'large');
  await world.advance(50);
  expect((await next).ok).toBe(true);
  expect(await tokens(project, 'large')).toBeCloseTo((left ?? 0) + 50 - 1, 6);
});

test('a project inside its limit never waits: more is asked for before the lease is used up', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'large');
  let waited = 0;
  for (let ms = 0; ms < 3_000; ms += 2) {
    // 500 a second in this process: half of the limit, as one of two processes would carry it.
    if (counter.takeNow(project, 'large')?.ok !== true) waited += 1;
    await world.advance(2);
  }
  expect(waited).toBe(0);
});

test('tokens that are not used go back after a second', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'large');
  await world.advance(999);
  expect(await tokens(project, 'large')).toBe(1_959);
  await world.advance(1);
  await world.quiet();
  expect(await tokens(project, 'large')).toBeGreaterThanOrEqual(1_999);
  const before = world.statements();
  await world.advance(60_000);
  expect(world.statements()).toBe(before);
  expect(world.timers()).toBe(0);
});

test('closing gives unused tokens back, leaves no timer, and refuses those who come later', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'large');
  await counter.close();
  await counter.close();
  expect(await tokens(project, 'large')).toBe(1_999);
  expect(world.timers()).toBe(0);
  await expect(ask(counter, project, 'large')).rejects.toMatchObject({
    code: 'server_error',
    retryAfterS: 1,
  });
});

test('closing decides those who wait: nobody is left without an answer', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'small');
  const waiting = Promise.allSettled([counter.take(project, 'one'), counter.take(project + 1, 'one')]);
  await counter.close();
  expect((await waiting).map((result) => result.status)).toEqual(['rejected', 'rejected']);
  expect(world.timers()).toBe(0);
});

test('a limit that was lowered holds within a second, leased tokens included', async () => {
  const { clock, world, counter, project } = setUp();
  await ask(counter, project, 'large');
  await world.advance(400);
  await setLimit(project, 'large', { rate: 1, burst: 1, at: clock.now() });
  await world.advance(200);
  // Still from the lease, which is due to be renewed by now: that is how the change is learnt.
  expect((await ask(counter, project, 'large')).ok).toBe(true);
  await world.advance(800);
  const grants = askMany(counter, { project, name: 'large', times: 50 });
  await world.advance(50);
  expect(await grants).toBe(1);
});

test('a limit that was raised is known within a second, even where a long refusal was remembered', async () => {
  const { clock, world, counter, project } = setUp();
  await setLimit(project, 'one', { rate: 0.001, burst: 1, at: clock.now() });
  await askMany(counter, { project, name: 'one', times: 2 });
  await setLimit(project, 'one', { rate: 100, burst: 100, at: clock.now() });
  expect((await ask(counter, project, 'one')).ok).toBe(false);
  await world.advance(1_000);
  expect(await ask(counter, project, 'one')).toMatchObject({ ok: true, limit: { rate: 100, burst: 100 } });
});

test('what is left counts leased and refilled tokens, and never exceeds the burst', async () => {
  const { world, counter, project } = setUp();
  expect((await ask(counter, project, 'large')).limit.remaining).toBe(1_999);
  expect((await ask(counter, project, 'large')).limit.remaining).toBe(1_998);
  await world.advance(1);
  expect((await ask(counter, project, 'large')).limit.remaining).toBe(1_998);
  await world.advance(500);
  expect((await ask(counter, project, 'large')).limit.remaining).toBe(2_000);
});

test('without the database those who wait are refused for a second, and the counter recovers by itself', async () => {
  const { world, counter, project } = setUp();
  world.be('away');
  await expect(ask(counter, project, 'small')).rejects.toMatchObject({
    code: 'server_error',
    retryAfterS: 1,
  });
  const refused = ask(counter, project, 'small').catch((error: unknown) => error);
  await world.advance(50);
  expect(await refused).toBeInstanceOf(Fault);
  world.be('well');
  const grant = ask(counter, project, 'small');
  await world.advance(50);
  expect((await grant).ok).toBe(true);
});

test('tokens at hand outlast a database that is away', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'large');
  world.be('away');
  for (let i = 0; i < 20; i += 1) expect(counter.takeNow(project, 'large')).toMatchObject({ ok: true });
});

test('an answer that comes too late refuses those who wait, and its tokens are given back', async () => {
  const { world, counter, project } = setUp();
  await ask(counter, project, 'small');
  await world.advance(1_050);
  expect(await tokens(project, 'small')).toBe(40);
  world.be('stuck');
  const refused = Promise.allSettled([counter.take(project, 'small'), counter.take(project, 'small')]);
  await world.advance(1_999);
  await world.advance(1);
  expect((await refused).map((result) => result.status)).toEqual(['rejected', 'rejected']);
  world.be('well');
  await world.advance(50);
  expect(await tokens(project, 'small')).toBe(40);
});

test('a clock that goes back neither prolongs a refusal nor refills a bucket twice', async () => {
  const { clock, world, counter, project } = setUp();
  await askMany(counter, { project, name: 'small', times: 50 });
  clock.advance(-3_600_000);
  expect(counter.takeNow(project, 'small')).toBeUndefined();
  expect((await ask(counter, project, 'small')).ok).toBe(false);
  clock.advance(3_600_000);
  const grants = askMany(counter, { project, name: 'small', times: 50 });
  await world.advance(50);
  // One token is 50 ms away, measured from before the clock went back.
  expect(await grants).toBeLessThanOrEqual(1);
});

test('buckets that nobody asks for are forgotten, those that hold tokens are not', () => {
  const clock = heldClock();
  const given: number[] = [];
  const shelf = createShelf({
    clock,
    timer: { after: () => () => {} },
    giveBack: (bucket) => given.push(bucket.projectId),
  });
  const [idle, holding, asked] = [1, 2, 3].map((id) => shelf.add(newBucket(id, 'small')));
  if (!idle || !holding || !asked) throw new Error('three were made');
  for (const bucket of [idle, holding]) bucket.learntAt = clock.now();
  holding.stock = 1;
  asked.queued = true;
  shelf.settled([idle, holding], clock.now());
  clock.advance(10_000);
  asked.queued = false;
  asked.learntAt = clock.now();
  shelf.settled([asked], clock.now());
  expect([1, 2, 3].map((id) => shelf.find(id, 'small')?.projectId)).toEqual([undefined, 2, 3]);
});
