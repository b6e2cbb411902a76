import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BREAKER, burstOf, type Health, applySample, mayClaim, newHealth, refill } from './health.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const LIMITS = { perSecond: 50, inFlightMax: 10 };

function after(results: { at: number; ok: boolean }[], from = newHealth(50, NOW)): Health {
  return results.reduce((health, { at, ok }) => applySample(health, { at, ok, isGone: false }).health, from);
}

function failures(count: number, at = NOW): { at: number; ok: boolean }[] {
  return Array.from({ length: count }, () => ({ at, ok: false }));
}

function claims(health: Health, now: number, inFlight = 0): number {
  return mayClaim(health, { limits: LIMITS, inFlight, now });
}

test('opens the circuit after 10 failures, not 9: pauses for 30 seconds, then allows one attempt', () => {
  expect(after(failures(9)).openUntil).toBeNull();
  const open = after(failures(10));
  expect(open.openUntil).toBe(NOW + 30 * SECOND);
  expect(claims(open, NOW + 29 * SECOND)).toBe(0);
  expect(claims(open, NOW + 30 * SECOND)).toBe(1);
  expect(claims(open, NOW + 30 * SECOND, 1)).toBe(0);
});

test('closes the circuit after one success, and opens it again after one failure', () => {
  const open = after(failures(10));
  const later = NOW + 31 * SECOND;
  expect(after([{ at: later, ok: true }], open)).toMatchObject({ openUntil: null, windows: [], failures: 0 });
  expect(after([{ at: later, ok: false }], open).openUntil).toBe(later + 30 * SECOND);
  // Attempts that had started before the circuit opened do not count.
  expect(after([{ at: NOW + 1, ok: true }], open).openUntil).toBe(open.openUntil);
});

test("counts the probe although the caller's clock was set back before its result", () => {
  const probedAt = NOW + 30 * SECOND;
  const probing = refill(after(failures(10)), LIMITS, probedAt);
  expect(after([{ at: probedAt - SECOND, ok: false }], probing).openUntil).toBe(probedAt + 30 * SECOND);
  expect(after([{ at: probedAt - SECOND, ok: true }], probing).openUntil).toBeNull();
});

test('opens like a reference circuit breaker that keeps every result', () => {
  const step = fc.record({
    afterMs: fc.nat(40_000),
    ok: fc.boolean(),
    times: fc.integer({ min: 1, max: 6 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let health = newHealth(50, NOW);
      let [now, openUntil] = [NOW, null as number | null];
      let all: { at: number; ok: boolean }[] = [];
      for (const { afterMs, ok, times } of steps) {
        now += afterMs;
        for (let i = 0; i < times; i += 1) {
          health = applySample(health, { at: now, ok, isGone: false }).health;
          if (openUntil !== null && now >= openUntil) {
            if (ok) [openUntil, all] = [null, []];
            else [openUntil, all] = [now + 30_000, [...all, { at: now, ok }]];
          } else {
            all.push({ at: now, ok });
            const counted = all.filter(({ at }) => at - (at % 30_000) > now - 300_000);
            const bad = counted.filter((sample) => !sample.ok).length;
            if (openUntil === null && !ok && counted.length >= 10 && bad >= 0.7 * counted.length)
              openUntil = now + 30_000;
          }
          expect(health.openUntil).toBe(openUntil);
          expect(health.windows.length).toBeLessThanOrEqual(BREAKER.countedMs / BREAKER.windowMs);
        }
      }
    }),
  );
});

test('warns after a day of failures and disables after five days, but not for fewer than ten failures or after a success', () => {
  const judged = (health: Health, at: number) => applySample(health, { at, ok: false, isGone: false });
  const begun = judged(newHealth(50, NOW), NOW).health;
  expect(judged(begun, NOW + 24 * HOUR - 1).event).toBeNull();
  const warned = judged(begun, NOW + 24 * HOUR);
  expect(warned).toMatchObject({ event: 'warned', health: { warnedAt: NOW + 24 * HOUR } });
  expect(judged(warned.health, NOW + 25 * HOUR).event).toBeNull();
  expect(judged({ ...warned.health, failures: 8 }, NOW + 120 * HOUR).event).not.toBe('failing');
  expect(judged({ ...warned.health, failures: 9 }, NOW + 120 * HOUR - 1).event).not.toBe('failing');
  expect(judged({ ...warned.health, failures: 9 }, NOW + 120 * HOUR).event).toBe('failing');
  const well = after([{ at: NOW + HOUR, ok: true }], warned.health);
  expect(well).toMatchObject({ failingSince: null, failures: 0, warnedAt: null, succeededAt: NOW + HOUR });
});

test('disables immediately after a 410 response', () => {
  expect(applySample(newHealth(50, NOW), { at: NOW, ok: false, isGone: true }).event).toBe('gone');
});

test('never allows more requests in any period than the rate and one burst', () => {
  const step = fc.record({ afterMs: fc.nat(5_000), requested: fc.nat(40) });
  const rates = fc.double({ min: 0.1, max: 100, noNaN: true });
  fc.assert(
    fc.property(rates, fc.array(step, { maxLength: 50 }), (perSecond, steps) => {
      const limits = { perSecond, inFlightMax: 1_000 };
      let health = newHealth(perSecond, NOW);
      let [now, total] = [NOW, 0];
      for (const { afterMs, requested } of steps) {
        now += afterMs;
        health = refill(health, limits, now);
        const claimed = Math.min(requested, mayClaim(health, { limits, inFlight: 0, now }));
        health = { ...health, tokens: health.tokens - claimed };
        total += claimed;
        expect(total).toBeLessThanOrEqual(burstOf(perSecond) + ((now - NOW) / 1_000) * perSecond + 1e-3);
      }
    }),
  );
});

test('has a token at the calculated time of the next token', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.1, max: 1_000, noNaN: true }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (perSecond, tokens) => {
        const health = { ...newHealth(perSecond, NOW), tokens };
        const at = NOW + Math.ceil((1_000 * (1 - tokens)) / perSecond);
        expect(claimsOf(health, perSecond, at)).toBe(1);
      },
    ),
  );
  function claimsOf(health: Health, perSecond: number, now: number): number {
    const limits = { perSecond, inFlightMax: 1 };
    return mayClaim(refill(health, limits, now), { limits, inFlight: 0, now });
  }
});
