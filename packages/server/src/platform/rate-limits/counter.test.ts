import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { Fault } from '../fault.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { newBucket, type Grant } from './bucket.ts';
import { rateLimitHarness } from '../../../testing/factories/rate-limit-harness.ts';
import { type Counter, createCounter, createShelf } from './counter.ts';

const real = await openTestDatabase(systemClock);

const DEFAULTS = {
  large: { rate: 1_000, burst: 2_000 },
  small: { rate: 20, burst: 40 },
  one: { rate: 1, burst: 1 },
};

function setUp() {
  const clock = fixedClock();
  const harness = rateLimitHarness(real, clock);
  const start = (): Counter =>
    createCounter({ db: harness.db, defaults: DEFAULTS, log: silentLog, timer: harness.timer });
  return { clock, harness, start, counter: start(), project: randomInt(1, 2 ** 47) };
}

/** Takes a token like the HTTP layer. */
async function takeToken(counter: Counter, project: number, name: string): Promise<Grant> {
  return counter.takeNow(project, name) ?? counter.take(project, name);
}

async function takeTokens(
  counter: Counter,
  { project, name, times }: { project: number; name: string; times: number },
) {
  const grants = await Promise.all(Array.from({ length: times }, () => takeToken(counter, project, name)));
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

test('gives a project without a row the defaults, and creates the row', async () => {
  const { counter, project } = setUp();
  const grant = await takeToken(counter, project, 'small');
  expect(grant).toEqual({ ok: true, limit: { rate: 20, burst: 40, remaining: 39, resetS: 1 } });
  expect(await tokens(project, 'small')).toBe(38);
});

test("applies a project's own limits", async () => {
  const { clock, counter, project } = setUp();
  await setLimit(project, 'small', { rate: 0.1, burst: 3, at: clock.now() });
  expect(await takeTokens(counter, { project, name: 'small', times: 5 })).toBe(3);
  const refusal = await takeToken(counter, project, 'small');
  expect(refusal).toEqual({
    ok: false,
    retryAfterS: 10,
    limit: { rate: 0.1, burst: 3, remaining: 0, resetS: 10 },
  });
});

test('rejects a name without a limit instead of admitting the request', async () => {
  const { counter, project } = setUp();
  await expect(takeToken(counter, project, 'nameless')).rejects.toThrow('no rate limit is named nameless');
});

test('an exhausted bucket does not affect other endpoints or projects', async () => {
  const { harness, counter, project } = setUp();
  expect(await takeTokens(counter, { project, name: 'small', times: 100 })).toBe(40);
  const others = Promise.all([
    takeToken(counter, project, 'large'),
    takeToken(counter, project + 1, 'small'),
  ]);
  await harness.advance(50);
  expect((await others).map((grant) => grant.ok)).toEqual([true, true]);
});

test('decides the first request after a quiet time without waiting', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'small');
  await harness.advance(5_000);
  // The test clock does not move here, so an answer that depended on the pace would never arrive.
  expect((await takeToken(counter, project, 'small')).ok).toBe(true);
});

test('shares one statement between all buckets, at most once in 50 ms', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'small');
  const before = harness.statements();
  const decided = Promise.all(
    Array.from({ length: 200 }, (_, i) => takeToken(counter, project + 1 + (i % 20), 'one')),
  );
  await harness.advance(49);
  expect(harness.statements()).toBe(before);
  await harness.advance(1);
  expect((await decided).filter((grant) => grant.ok)).toHaveLength(20);
  // The lease, the insertion of the missing rows, and the lease again.
  expect(harness.statements()).toBe(before + 3);
});

test('sends a statement as soon as requests wait for 32 silent projects', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'small');
  const before = harness.statements();
  const takeMany = (count: number): Promise<Grant[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => takeToken(counter, project + 1 + (i % 32), 'one')));
  const few = takeMany(31);
  // More requests of the same projects do not make them more.
  const repeated = takeMany(31);
  await harness.quiet();
  expect(harness.statements()).toBe(before);
  const last = takeToken(counter, project + 32, 'one');
  // The test clock does not move, so none of these answers waited for the pace.
  const grants = [...(await few), ...(await repeated), await last];
  expect(grants.filter((grant) => grant.ok)).toHaveLength(32);
  expect(harness.statements()).toBe(before + 3);
});

test('returns tokens of many buckets at the pace of 50 ms, until requests wait for them', async () => {
  const { harness, counter, project } = setUp();
  const takeMany = (): Promise<Grant[]> =>
    Promise.all(Array.from({ length: 32 }, (_, i) => takeToken(counter, project + i, 'large')));
  await takeMany();
  await harness.advance(980);
  await takeToken(counter, project + 32, 'small');
  const before = harness.statements();
  // The leases of the first 32 buckets end here.
  await harness.advance(20);
  expect(harness.statements()).toBe(before);
  expect((await takeMany()).every((grant) => grant.ok)).toBe(true);
  expect(harness.statements()).toBe(before + 1);
});

test('waits for the pace of 50 ms with projects that got an answer within a second', async () => {
  const { harness, counter, project } = setUp();
  const projects = Array.from({ length: 32 }, (_, i) => project + i);
  await Promise.all(projects.map((each) => takeTokens(counter, { project: each, name: 'small', times: 41 })));
  await harness.advance(50);
  await takeToken(counter, project + 32, 'small');
  const before = harness.statements();
  // Each bucket was empty, and has one token again.
  const grants = Promise.all(projects.map((each) => takeToken(counter, each, 'small')));
  await harness.advance(49);
  expect(harness.statements()).toBe(before);
  await harness.advance(1);
  expect((await grants).every((grant) => grant.ok)).toBe(true);
  expect(harness.statements()).toBe(before + 1);
});

test('remembers a refusal without a query until there is a token', async () => {
  const { harness, counter, project } = setUp();
  await takeTokens(counter, { project, name: 'small', times: 100 });
  const before = harness.statements();
  for (let ms = 0; ms < 50; ms += 1) {
    for (let i = 0; i < 100; i += 1)
      expect(counter.takeNow(project, 'small')).toMatchObject({ ok: false, retryAfterS: 1 });
    await harness.advance(1);
  }
  expect(harness.statements()).toBe(before);
  expect((await takeToken(counter, project, 'small')).ok).toBe(true);
});

test('counts down a long refusal, and queries again after a second', async () => {
  const { clock, harness, counter, project } = setUp();
  await setLimit(project, 'one', { rate: 0.1, burst: 1, at: clock.now() });
  await takeTokens(counter, { project, name: 'one', times: 2 });
  const before = harness.statements();
  await harness.advance(999);
  expect(counter.takeNow(project, 'one')).toMatchObject({ ok: false, retryAfterS: 10 });
  await harness.advance(1);
  expect(counter.takeNow(project, 'one')).toBeUndefined();
  expect(await takeToken(counter, project, 'one')).toMatchObject({
    ok: false,
    retryAfterS: 9,
    limit: { resetS: 9 },
  });
  expect(harness.statements()).toBe(before + 1);
  await harness.advance(9_000);
  expect((await takeToken(counter, project, 'one')).ok).toBe(true);
});

test('leases 2 % of the burst in advance while the bucket is over half full, and nothing below', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'large');
  expect(await tokens(project, 'large')).toBe(2_000 - 1 - 40);
  const grants = Promise.all(Array.from({ length: 1_500 }, () => takeToken(counter, project, 'large')));
  await harness.advance(50);
  expect((await grants).every((grant) => grant.ok)).toBe(true);
  const left = await tokens(project, 'large');
  expect(left).toBeLessThan(1_000);
  const next = takeToken(counter, project, 'large');
  await harness.advance(50);
  expect((await next).ok).toBe(true);
  expect(await tokens(project, 'large')).toBeCloseTo((left ?? 0) + 50 - 1, 6);
});

test('a project within its limit never waits, because more is leased before the stock is used up', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'large');
  let waited = 0;
  for (let ms = 0; ms < 3_000; ms += 2) {
    // 500 a second in this process: half of the limit, the share of one of two processes.
    if (counter.takeNow(project, 'large')?.ok !== true) waited += 1;
    await harness.advance(2);
  }
  expect(waited).toBe(0);
});

test('returns unused tokens after a second', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'large');
  await harness.advance(999);
  expect(await tokens(project, 'large')).toBe(1_959);
  await harness.advance(1);
  await harness.quiet();
  expect(await tokens(project, 'large')).toBeGreaterThanOrEqual(1_999);
  const before = harness.statements();
  await harness.advance(60_000);
  expect(harness.statements()).toBe(before);
  expect(harness.timers()).toBe(0);
});

test('close returns unused tokens, leaves no timer, and refuses later requests', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'large');
  await counter.close();
  await counter.close();
  expect(await tokens(project, 'large')).toBe(1_999);
  expect(harness.timers()).toBe(0);
  await expect(takeToken(counter, project, 'large')).rejects.toMatchObject({
    code: 'server_error',
    retryAfterS: 1,
  });
});

test('close rejects all waiting requests', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'small');
  const waiting = Promise.allSettled([counter.take(project, 'one'), counter.take(project + 1, 'one')]);
  await counter.close();
  expect((await waiting).map((result) => result.status)).toEqual(['rejected', 'rejected']);
  expect(harness.timers()).toBe(0);
});

test('applies a lowered limit within a second, including leased tokens', async () => {
  const { clock, harness, counter, project } = setUp();
  await takeToken(counter, project, 'large');
  await harness.advance(400);
  await setLimit(project, 'large', { rate: 1, burst: 1, at: clock.now() });
  await harness.advance(200);
  // Served from the lease, which is due to be renewed; the renewal brings the new limit.
  expect((await takeToken(counter, project, 'large')).ok).toBe(true);
  await harness.advance(800);
  const grants = takeTokens(counter, { project, name: 'large', times: 50 });
  await harness.advance(50);
  expect(await grants).toBe(1);
});

test('applies a raised limit within a second, despite a remembered long refusal', async () => {
  const { clock, harness, counter, project } = setUp();
  await setLimit(project, 'one', { rate: 0.001, burst: 1, at: clock.now() });
  await takeTokens(counter, { project, name: 'one', times: 2 });
  await setLimit(project, 'one', { rate: 100, burst: 100, at: clock.now() });
  expect((await takeToken(counter, project, 'one')).ok).toBe(false);
  await harness.advance(1_000);
  expect(await takeToken(counter, project, 'one')).toMatchObject({
    ok: true,
    limit: { rate: 100, burst: 100 },
  });
});

test('`remaining` includes leased and refilled tokens, and never exceeds the burst', async () => {
  const { harness, counter, project } = setUp();
  expect((await takeToken(counter, project, 'large')).limit.remaining).toBe(1_999);
  expect((await takeToken(counter, project, 'large')).limit.remaining).toBe(1_998);
  await harness.advance(1);
  expect((await takeToken(counter, project, 'large')).limit.remaining).toBe(1_998);
  await harness.advance(500);
  expect((await takeToken(counter, project, 'large')).limit.remaining).toBe(2_000);
});

test('refuses waiting requests for a second without the database, and recovers automatically', async () => {
  const { harness, counter, project } = setUp();
  harness.be('away');
  await expect(takeToken(counter, project, 'small')).rejects.toMatchObject({
    code: 'server_error',
    retryAfterS: 1,
  });
  const refused = takeToken(counter, project, 'small').catch((error: unknown) => error);
  await harness.advance(50);
  expect(await refused).toBeInstanceOf(Fault);
  harness.be('well');
  const grant = takeToken(counter, project, 'small');
  await harness.advance(50);
  expect((await grant).ok).toBe(true);
});

test('serves leased tokens during a database outage', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'large');
  harness.be('away');
  for (let i = 0; i < 20; i += 1) expect(counter.takeNow(project, 'large')).toMatchObject({ ok: true });
});

test('a late answer refuses waiting requests, and its tokens are returned', async () => {
  const { harness, counter, project } = setUp();
  await takeToken(counter, project, 'small');
  await harness.advance(1_050);
  expect(await tokens(project, 'small')).toBe(40);
  harness.be('stuck');
  const refused = Promise.allSettled([counter.take(project, 'small'), counter.take(project, 'small')]);
  await harness.advance(1_999);
  await harness.advance(1);
  expect((await refused).map((result) => result.status)).toEqual(['rejected', 'rejected']);
  harness.be('well');
  await harness.advance(50);
  expect(await tokens(project, 'small')).toBe(40);
});

test('a clock that goes back neither prolongs a refusal nor refills a bucket twice', async () => {
  const { clock, harness, counter, project } = setUp();
  await takeTokens(counter, { project, name: 'small', times: 50 });
  clock.advance(-3_600_000);
  expect(counter.takeNow(project, 'small')).toBeUndefined();
  expect((await takeToken(counter, project, 'small')).ok).toBe(false);
  clock.advance(3_600_000);
  const grants = takeTokens(counter, { project, name: 'small', times: 50 });
  await harness.advance(50);
  // One token is due in 50 ms, measured from before the clock went back.
  expect(await grants).toBeLessThanOrEqual(1);
});

test('drops idle buckets, but none that hold tokens', () => {
  const clock = fixedClock();
  const returned: number[] = [];
  const shelf = createShelf({
    clock,
    timer: { after: () => () => {} },
    giveBack: (bucket) => returned.push(bucket.projectId),
  });
  const [idle, holding, queuedBucket] = [1, 2, 3].map((id) => shelf.add(newBucket(id, 'small')));
  if (!idle || !holding || !queuedBucket) throw new Error('three were made');
  for (const bucket of [idle, holding]) bucket.learntAt = clock.now();
  holding.stock = 1;
  queuedBucket.isQueued = true;
  shelf.settled([idle, holding], clock.now());
  clock.advance(10_000);
  queuedBucket.isQueued = false;
  queuedBucket.learntAt = clock.now();
  shelf.settled([queuedBucket], clock.now());
  expect([1, 2, 3].map((id) => shelf.find(id, 'small')?.projectId)).toEqual([undefined, 2, 3]);
});
