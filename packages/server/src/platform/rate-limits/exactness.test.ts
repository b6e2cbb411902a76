import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { rateLimitHarness, type RateLimitHarness } from '../../../testing/factories/rate-limit-harness.ts';
import { type Counter, createCounter } from './counter.ts';

const real = await openTestDatabase(systemClock);

type Limit = { rate: number; burst: number };
type Decision = { at: number; ok: boolean; retryAfterS: number };

/** Simulates several processes on one bucket, with one clock; `decisions` are in the order in which they were made. */
function processes(count: number, limit: Limit) {
  const clock = fixedClock();
  const harness: RateLimitHarness = rateLimitHarness(real, clock);
  const project = randomInt(1, 2 ** 47);
  const startedAt = clock.now();
  const deps = { db: harness.db, defaults: { it: limit }, log: silentLog, timer: harness.timer };
  const counters = Array.from({ length: count }, () => createCounter(deps));
  const decisions: Decision[] = [];
  const late: Promise<void>[] = [];
  const request = (counter: Counter): void => {
    const note = (grant: { ok: boolean; retryAfterS?: number }): void => {
      decisions.push({ at: clock.now() - startedAt, ok: grant.ok, retryAfterS: grant.retryAfterS ?? 0 });
    };
    const now = counter.takeNow(project, 'it');
    if (now) note(now);
    else late.push(counter.take(project, 'it').then(note));
  };
  /** Decides all waiting requests. */
  const finish = async (): Promise<void> => {
    await harness.advance(200);
    await Promise.all(late);
    await Promise.all(counters.map((counter) => counter.close()));
  };
  const tokens = async (): Promise<number> => {
    const rows = await real.query<{ tokens: number }>(
      `SELECT tokens FROM beckon.rate_limit WHERE project_id = $1`,
      [project],
    );
    return rows[0]?.tokens ?? Number.NaN;
  };
  return { harness, counters, decisions, request, finish, tokens };
}

const STEP_MS = 5;
const FLOOD_MS = 10_000;

test.each([
  { rate: 20, burst: 40 },
  { rate: 50, burst: 100 },
  { rate: 1_000, burst: 2_000 },
])(
  'two processes at three times $rate/s together never exceed the burst and the rate, and fall short by less than one token each',
  async (limit) => {
    const { harness, counters, decisions, request, finish } = processes(2, limit);
    for (let ms = 0, owed = 0; ms < FLOOD_MS; ms += STEP_MS) {
      for (owed += (3 * limit.rate * STEP_MS) / 1_000; owed >= 1; owed -= 1)
        request(counters[randomInt(2)] ?? fail());
      await harness.advance(STEP_MS);
    }
    await finish();
    // Requests that still waited after the last one arrived are decided without load, when tokens are left over.
    const grants = decisions.filter(({ ok, at }) => ok && at < FLOOD_MS);
    const lastAt = Math.max(...grants.map(({ at }) => at));
    expect(lastAt).toBeGreaterThan(FLOOD_MS - 100);
    const ideal = limit.burst + (limit.rate * lastAt) / 1_000;
    expect(grants.length).toBeLessThanOrEqual(ideal);
    // A process may hold a token although, by chance, no request reached it at that time.
    expect(grants.length).toBeGreaterThan(ideal - counters.length);
    for (const { ok, retryAfterS } of decisions) if (!ok) expect(retryAfterS).toBe(1);
  },
);

function fail(): never {
  throw new Error('two processes were started');
}

test('concurrent processes never get the same token', async () => {
  for (let round = 0; round < 20; round += 1) {
    const limit = { rate: 1, burst: 25 };
    const { counters, decisions, request, finish, tokens, harness } = processes(8, limit);
    request(counters[0] ?? fail());
    await harness.advance(50);
    // Eight concurrent statements, each on its own connection: each must see the result of the one before it.
    for (const counter of counters) for (let i = 0; i < 10; i += 1) request(counter);
    await finish();
    const granted = decisions.filter(({ ok }) => ok).length;
    // Tokens leased in advance and not used were returned; the refill in the elapsed time was less than one token.
    expect(granted).toBeGreaterThanOrEqual(limit.burst - 1);
    expect(Math.floor(granted + (await tokens()))).toBe(limit.burst);
  }
});

/** Tokens leased in advance are temporarily unavailable to others: this is the largest deviation of a process from the ideal. */
const ahead = ({ burst }: Limit): number => Math.ceil(burst * 0.02);

test('one process decides like an ideal bucket for any arrivals', async () => {
  const arrivals = fc.array(
    fc.record({
      gapMs: fc.oneof(fc.nat(20), fc.nat(400), fc.nat(4_000)),
      requests: fc.integer({ min: 1, max: 60 }),
    }),
    { minLength: 5, maxLength: 60 },
  );
  const limits = fc.record({
    rate: fc.constantFrom(0.5, 1, 3, 20, 50, 137.5, 1_000),
    burst: fc.integer({ min: 1, max: 400 }),
  });
  await fc.assert(
    fc.asyncProperty(limits, arrivals, async (limit, steps) => {
      const { harness, counters, decisions, request, finish, tokens } = processes(1, limit);
      for (const { gapMs, requests } of steps) {
        await harness.advance(gapMs);
        for (let i = 0; i < requests; i += 1) request(counters[0] ?? fail());
      }
      await finish();
      let held = limit.burst;
      let at = 0;
      for (const decision of decisions) {
        held = Math.min(limit.burst, held + ((decision.at - at) * limit.rate) / 1_000);
        at = decision.at;
        if (decision.ok) held -= 1;
        // Never grants a missing token, and never refuses while one is available.
        if (decision.ok) expect(held).toBeGreaterThanOrEqual(-1e-3);
        else expect(held).toBeLessThan(1 + ahead(limit));
      }
      expect(decisions).toHaveLength(steps.reduce((sum, { requests }) => sum + requests, 0));
      expect(await tokens()).toBeLessThanOrEqual(limit.burst);
    }),
    { numRuns: 60 },
  );
});

test('three processes never grant more than the bucket for any distribution of arrivals', async () => {
  const arrivals = fc.array(
    fc.record({
      gapMs: fc.oneof(fc.nat(20), fc.nat(2_500)),
      who: fc.nat(2),
      requests: fc.integer({ min: 1, max: 40 }),
    }),
    { minLength: 5, maxLength: 50 },
  );
  const limits = fc.record({
    rate: fc.constantFrom(1, 20, 50, 200),
    burst: fc.integer({ min: 1, max: 300 }),
  });
  await fc.assert(
    fc.asyncProperty(limits, arrivals, async (limit, steps) => {
      const { harness, counters, decisions, request, finish } = processes(3, limit);
      for (const { gapMs, who, requests } of steps) {
        await harness.advance(gapMs);
        for (let i = 0; i < requests; i += 1) request(counters[who] ?? fail());
      }
      await finish();
      const grants = decisions.filter(({ ok }) => ok).map(({ at }) => at);
      for (let from = 0; from < grants.length; from += 1) {
        for (let to = from; to < grants.length; to += 1) {
          const elapsedMs = (grants[to] ?? 0) - (grants[from] ?? 0);
          const most = limit.burst + (elapsedMs * limit.rate) / 1_000 + 2 * ahead(limit);
          if (to - from + 1 > most + 1e-3)
            throw new Error(`${to - from + 1} in ${elapsedMs} ms, not ${most}`);
        }
      }
    }),
    { numRuns: 40 },
  );
});
