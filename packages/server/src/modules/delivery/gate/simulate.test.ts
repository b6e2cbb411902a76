import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runSteps } from '../../../platform/time/steps.ts';
import { CONTEND_WITHIN_MS, type Contender, slotOrder, findYields } from './limits.ts';
import { comparePolicies } from '../../administration/simulate-policy.ts';
import { gate, type GateReason } from './gate.ts';
import { quietUntil } from './quiet-hours.ts';
import { type DraftForecast, type Queue, type QueuedDraft, simulateQueue } from './simulate.ts';
import type { Policy } from './facts.ts';
import { remainingSlots } from '../../sending/emails/caps.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const NOW = Date.UTC(2026, 0, 15, 12);
const OPEN: Policy = { paused: false, quietHours: null, caps: null, throttle: null, timeZone: 'UTC' };
const DAILY = [{ emails: 1, windowMs: DAY }];

/** The tests have no other work, so they run all steps without a pause. */
const simulate = (...args: Parameters<typeof simulateQueue>) => runSteps(simulateQueue(...args));
const compare = (...args: Parameters<typeof comparePolicies>) => runSteps(comparePolicies(...args));

const draft = (id: string, fields: Partial<QueuedDraft> = {}): QueuedDraft => ({
  id,
  ruleId: 'rule',
  userId: `user of ${id}`,
  address: `${id}@example.com`,
  zone: null,
  priority: 0,
  dueAt: NOW,
  expiresAt: null,
  ruleIsOn: true,
  suppression: null,
  refusedTopic: null,
  domain: 'pass',
  counts: true,
  ...fields,
});
const queueOf = (drafts: QueuedDraft[], claims: [string, number[]][] = []): Queue => ({
  drafts,
  claims: new Map(claims),
  bucket: null,
});
const forecastsOf = (queue: Queue, policy: Policy): Record<string, DraftForecast> =>
  Object.fromEntries(simulate(queue, policy, NOW));
const sends = (leavesAt: number, after: GateReason | null = null): DraftForecast => ({
  kind: 'sends',
  leavesAt,
  after,
});

test('sends each draft when it is due, and overdue drafts now, if every gate is open', () => {
  const queue = queueOf([draft('late', { dueAt: NOW - HOUR }), draft('soon', { dueAt: NOW + HOUR })]);
  expect(forecastsOf(queue, OPEN)).toEqual({ late: sends(NOW), soon: sends(NOW + HOUR) });
});

test('holds a draft forever if time alone does not open a gate, and names the gate', () => {
  const queue = queueOf([
    draft('off', { ruleIsOn: false }),
    draft('gone', { suppression: { reason: 'complaint', until: null } }),
    draft('unasked', { refusedTopic: 'news' }),
    draft('nowhere', { address: null }),
    draft('unverified', { domain: { reason: 'domain_not_ready', detail: 'no DKIM' } }),
    draft('snoozed', { suppression: { reason: 'snoozed', until: NOW + DAY } }),
    draft('snoozed nowhere', { suppression: { reason: 'snoozed', until: NOW + DAY }, address: null }),
  ]);
  const held = (reason: string) => ({ kind: 'held', reason, until: null });
  expect(forecastsOf(queue, OPEN)).toEqual({
    off: held('rule_off'),
    gone: held('suppressed'),
    unasked: held('topic_unsubscribed'),
    nowhere: held('no_address'),
    unverified: held('domain_not_ready'),
    snoozed: sends(NOW + DAY, 'suppressed'),
    'snoozed nowhere': held('no_address'),
  });
  for (const forecast of Object.values(forecastsOf(queue, { ...OPEN, paused: true })))
    expect(forecast).toEqual(held('paused'));
});

test("uses the user's quiet hours zone, or else that of the policy", () => {
  const policy = { ...OPEN, quietHours: { start: '21:00', end: '08:00' } };
  const queue = queueOf([draft('own', { zone: 'Australia/Sydney' }), draft('none')]);
  const { own, none } = forecastsOf(queue, policy);
  expect(none).toEqual(sends(NOW));
  expect(own).toMatchObject({ kind: 'sends', after: 'quiet_hours' });
  const there = forecastsOf(queue, { ...policy, timeZone: 'Australia/Sydney' });
  expect(there['own']).toEqual(own);
  expect(there['none']).toMatchObject({ after: 'quiet_hours' });
  for (const forecast of [own, there['none']]) {
    const at = forecast?.kind === 'sends' ? forecast.leavesAt - Date.UTC(2026, 0, 15, 21) : -1;
    expect(at).toBeGreaterThanOrEqual(0);
    expect(at).toBeLessThan(30 * MINUTE);
  }
});

describe('the slots of one address', () => {
  const address = 'shared@example.com';

  test('counts a sent email', () => {
    const queue = queueOf(
      [
        draft('a', { address }),
        draft('b', { address, dueAt: NOW + 3 * HOUR }),
        draft('free', { address, counts: false }),
      ],
      [[address, [NOW - 23 * HOUR]]],
    );
    expect(forecastsOf(queue, { ...OPEN, caps: DAILY })).toEqual({
      a: sends(NOW + HOUR, 'frequency_cap'),
      b: sends(NOW + 25 * HOUR, 'frequency_cap'),
      free: sends(NOW),
    });
  });

  test('gives the slot to the higher priority if both drafts are due within two hours', () => {
    const better = { address, priority: 9 };
    const within = queueOf([draft('low', { address }), draft('high', { ...better, dueAt: NOW + 2 * HOUR })]);
    expect(forecastsOf(within, { ...OPEN, caps: DAILY })).toEqual({
      high: sends(NOW + 2 * HOUR),
      low: sends(NOW + 26 * HOUR, 'frequency_cap'),
    });
    const beyond = queueOf([
      draft('low', { address }),
      draft('high', { ...better, dueAt: NOW + 2 * HOUR + 1 }),
    ]);
    expect(forecastsOf(beyond, { ...OPEN, caps: DAILY })).toEqual({
      low: sends(NOW),
      high: sends(NOW + DAY, 'frequency_cap'),
    });
  });

  test('yields only if slots are short, and not to drafts that are not sent or do not count', () => {
    const low = draft('low', { address });
    const two = [{ emails: 2, windowMs: DAY }];
    const later = { address, priority: 9, dueAt: NOW + HOUR };
    expect(forecastsOf(queueOf([low, draft('high', later)]), { ...OPEN, caps: two })['low']).toEqual(
      sends(NOW),
    );
    for (const other of [
      draft('off', { ...later, ruleIsOn: false }),
      draft('free', { ...later, counts: false }),
    ]) {
      expect(forecastsOf(queueOf([low, other]), { ...OPEN, caps: DAILY })['low']).toEqual(sends(NOW));
    }
  });
});

test('sends drafts through the throttle one after the other, first come, first served', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const queue = queueOf(ids.map((id, index) => draft(id, { dueAt: NOW + index })));
  const forecasts = forecastsOf(queue, { ...OPEN, throttle: { emails: 120, perMs: MINUTE } });
  expect(Object.values(forecasts)).toEqual([
    sends(NOW),
    sends(NOW + 1),
    sends(NOW + 500, 'throttle'),
    sends(NOW + 1_000, 'throttle'),
    sends(NOW + 1_500, 'throttle'),
  ]);
  const spent = { ...queue, bucket: { tokens: 0, refilledAt: NOW } };
  expect(forecastsOf(spent, { ...OPEN, throttle: { emails: 1, perMs: HOUR } })['a']).toEqual(
    sends(NOW + HOUR, 'throttle'),
  );
});

test('sends a draft that waits for the throttle before one that becomes due at that time', () => {
  const queue = queueOf([
    draft('z'),
    draft('y', { dueAt: NOW + 1 }),
    draft('a', { dueAt: NOW + HOUR, priority: 9 }),
  ]);
  expect(forecastsOf(queue, { ...OPEN, throttle: { emails: 1, perMs: HOUR } })).toEqual({
    z: sends(NOW),
    y: sends(NOW + HOUR, 'throttle'),
    a: sends(NOW + 2 * HOUR, 'throttle'),
  });
});

test('expires a draft while it is held, and does not send it afterwards', () => {
  const address = 'shared@example.com';
  const at = (expiresAt: number) => draft('x', { address, expiresAt });
  const capped = (expiresAt: number) =>
    forecastsOf(queueOf([at(expiresAt)], [[address, [NOW - 20 * HOUR]]]), { ...OPEN, caps: DAILY })['x'];
  expect(capped(NOW + 4 * HOUR)).toEqual({
    kind: 'expires',
    expiresAt: NOW + 4 * HOUR,
    after: 'frequency_cap',
  });
  expect(capped(NOW + 4 * HOUR + 1)).toEqual(sends(NOW + 4 * HOUR, 'frequency_cap'));
  expect(forecastsOf(queueOf([at(NOW)]), OPEN)['x']).toEqual({
    kind: 'expires',
    expiresAt: NOW,
    after: null,
  });
  const line = [draft('a'), draft('b', { dueAt: NOW + 1, expiresAt: NOW + HOUR })];
  expect(forecastsOf(queueOf(line), { ...OPEN, throttle: { emails: 1, perMs: HOUR } })['b']).toEqual({
    kind: 'expires',
    expiresAt: NOW + HOUR,
    after: 'throttle',
  });
});

test('leaves a draft held after too many checks', () => {
  const crowd = Array.from({ length: 250 }, (_, index) =>
    draft(`d${String(index).padStart(3, '0')}`, { address: 'one@example.com' }),
  );
  const forecasts = Object.values(forecastsOf(queueOf(crowd), { ...OPEN, caps: DAILY }));
  expect(forecasts.filter((forecast) => forecast.kind === 'sends')).toHaveLength(200);
  expect(forecasts.filter((forecast) => forecast.kind === 'held')).toHaveLength(50);
  for (const forecast of forecasts)
    if (forecast.kind === 'held')
      expect(forecast).toMatchObject({ reason: 'frequency_cap', until: expect.any(Number) });
});

const ADDRESSES = ['a@x.org', 'b@x.org', 'c@x.org'];
const queues: fc.Arbitrary<Queue> = fc.record({
  drafts: fc.uniqueArray(
    fc
      .record({
        id: fc.uuid(),
        address: fc.constantFrom(...ADDRESSES, ...ADDRESSES, null),
        zone: fc.constantFrom(null, 'Australia/Sydney', 'America/Havana', 'Europe/Berlin'),
        priority: fc.nat(2),
        dueAt: fc.integer({ min: -24, max: 48 }).map((half) => NOW + (half * HOUR) / 2),
        expiresAt: fc.option(fc.integer({ min: 0, max: 96 }).map((hours) => NOW + hours * HOUR)),
        ruleIsOn: fc.constantFrom(true, true, true, false),
        suppression: fc.constantFrom(null, null, { reason: 'snoozed', until: NOW + 5 * HOUR }),
        counts: fc.constantFrom(true, true, true, false),
      })
      .map(({ id, ...fields }) => draft(id, fields)),
    { selector: ({ id }) => id, maxLength: 14 },
  ),
  claims: fc
    .array(
      fc.tuple(
        fc.constantFrom(...ADDRESSES),
        fc
          .array(fc.integer({ min: 0, max: 200 }), { maxLength: 4 })
          .map((hours) => hours.toSorted((a, b) => a - b).map((ago) => NOW - ago * HOUR)),
      ),
    )
    .map((pairs) => new Map(pairs)),
  bucket: fc.option(
    fc.record({ tokens: fc.double({ min: 0, max: 2, noNaN: true }), refilledAt: fc.constant(NOW) }),
  ),
});
const policies: fc.Arbitrary<Policy> = fc.record({
  paused: fc.constant(false),
  quietHours: fc.constantFrom(null, { start: '21:00', end: '08:00' }, { start: '08:30', end: '08:00' }),
  caps: fc.constantFrom(
    null,
    DAILY,
    [...DAILY, { emails: 3, windowMs: 7 * DAY }],
    [{ emails: 2, windowMs: DAY }],
  ),
  throttle: fc.constantFrom(null, { emails: 1, perMs: HOUR }, { emails: 3, perMs: MINUTE }),
  timeZone: fc.constantFrom('UTC', 'Asia/Tokyo'),
});

type SentDraft = QueuedDraft & { at: number };
const sentOf = (queue: Queue, forecasts: Map<string, DraftForecast>): SentDraft[] =>
  queue.drafts
    .flatMap((queued) => {
      const forecast = forecasts.get(queued.id);
      return forecast?.kind === 'sends' ? [{ ...queued, at: forecast.leavesAt }] : [];
    })
    .toSorted((a, b) => a.at - b.at);

test('decides every draft, and sends none against the policy', () => {
  const seen: Record<string, number> = {};
  fc.assert(
    fc.property(queues, policies, (queue, policy) => {
      const forecasts = simulate(queue, policy, NOW);
      expect(forecasts.size).toBe(queue.drafts.length);
      for (const forecast of forecasts.values()) {
        const name = forecast.kind === 'held' ? forecast.reason : `${forecast.kind} after ${forecast.after}`;
        seen[name] = (seen[name] ?? 0) + 1;
      }
      const sent = sentOf(queue, forecasts);
      for (const queued of sent) {
        expect(queued.at).toBeGreaterThanOrEqual(Math.max(NOW, queued.dueAt));
        expect(queued.at).toBeLessThan(queued.expiresAt ?? Infinity);
        expect([queued.ruleIsOn, queued.address === null]).toEqual([true, false]);
        expect(queued.at).toBeGreaterThanOrEqual(queued.suppression?.until ?? 0);
        if (policy.quietHours)
          expect(quietUntil(queued.at, queued.zone ?? policy.timeZone, policy.quietHours)).toBeNull();
        expectCapsKept({ queue, policy, sent }, queued);
      }
      expectThrottleKept(sent, policy);
    }),
    { numRuns: 1_500 },
  );
  const names = [
    'sends after null',
    'sends after quiet_hours',
    'sends after frequency_cap',
    'sends after throttle',
  ];
  for (const name of [
    ...names,
    'expires after frequency_cap',
    'expires after null',
    'rule_off',
    'no_address',
  ]) {
    expect(seen[name], name).toBeGreaterThan(20);
  }
});

function expectCapsKept(
  { queue, policy, sent }: { queue: Queue; policy: Policy; sent: SentDraft[] },
  email: SentDraft,
): void {
  if (!email.counts || email.address === null) return;
  const sameAddress = sent.filter(
    ({ address, counts, at }) => counts && address === email.address && at <= email.at,
  );
  const claimed = [...(queue.claims.get(email.address) ?? []), ...sameAddress.map(({ at }) => at)];
  for (const { emails, windowMs } of policy.caps ?? []) {
    expect(claimed.filter((at) => at > email.at - windowMs).length).toBeLessThanOrEqual(emails);
  }
}

function expectThrottleKept(sent: SentDraft[], { throttle }: Policy): void {
  if (!throttle) return;
  for (const [from, first] of sent.entries()) {
    for (const [to, last] of sent.entries()) {
      const rate = ((last.at - first.at) * throttle.emails) / throttle.perMs;
      if (to >= from) expect(to - from + 1).toBeLessThanOrEqual(1 + rate + 1e-6);
    }
  }
}

test('agrees with a simple sender that checks at each retry time and knows all rivals', () => {
  let yields = 0;
  fc.assert(
    fc.property(queues, policies, (queue, { ...policy }) => {
      policy.throttle = null;
      const plain = plainSender(queue, policy);
      yields += plain.yields;
      expect(simulate(queue, policy, NOW)).toEqual(plain.forecasts);
    }),
    { numRuns: 1_000 },
  );
  expect(yields).toBeGreaterThan(10);
});

type PendingDraft = Contender & { queued: QueuedDraft; at: number; after: GateReason | null };

/** A sender without a throttle. It ends drafts at once if only a person can open their gate, or if they will expire. */
function plainSender(
  queue: Queue,
  policy: Policy,
): { forecasts: Map<string, DraftForecast>; yields: number } {
  const claimed = new Map<string | null, number[]>(queue.claims);
  const forecasts = new Map<string, DraftForecast>();
  let yields = 0;
  let open = queue.drafts.map((queued): PendingDraft => {
    const { id, priority, dueAt: deadlineAt } = queued;
    return { queued, id, priority, deadlineAt, at: Math.max(NOW, deadlineAt), after: null };
  });
  const claimsOf = ({ queued }: PendingDraft) => claimed.get(queued.address) ?? [];
  const gateResult = (pending: PendingDraft, at: number, yieldsTo: Contender | null) => {
    const { queued } = pending;
    const facts = {
      draftId: queued.id,
      isRestored: false,
      zone: queued.zone ?? policy.timeZone,
      claimedAt: claimsOf(pending),
      yieldsTo,
    };
    return gate(
      { ...queued, ...facts, throttle: { remaining: 1, nextAt: at }, domainLimit: null, warmup: 'pass' },
      policy,
      at,
    );
  };
  const winnerOver = (pending: PendingDraft) => {
    const { queued, at } = pending;
    const same = open.filter((other) => other.queued.counts && other.queued.address === queued.address);
    const near = same.filter((other) => other.at <= at + CONTEND_WITHIN_MS);
    return findYields(near, remainingSlots(policy.caps, claimsOf(pending), at)).get(queued.id) ?? null;
  };
  const forecastOf = (
    pending: PendingDraft,
    at: number,
    yieldsTo: Contender | null,
  ): DraftForecast | null => {
    const expiresAt = pending.queued.expiresAt ?? Infinity;
    if (expiresAt <= at) return { kind: 'expires', expiresAt, after: pending.after };
    const result = gateResult(pending, at, yieldsTo);
    if (result.passes) return { kind: 'sends', leavesAt: at, after: pending.after };
    if (result.until === null) return { kind: 'held', reason: result.reason, until: null };
    if (result.reason === 'frequency_cap_yielded') yields += 1;
    Object.assign(pending, { at: result.until, after: result.reason });
    return expiresAt <= result.until ? { kind: 'expires', expiresAt, after: result.reason } : null;
  };
  const end = (pending: PendingDraft, forecast: DraftForecast) => {
    forecasts.set(pending.id, forecast);
    open = open.filter((other) => other !== pending);
  };
  for (const pending of open) {
    const result = gateResult(pending, NOW, null);
    if (!result.passes && result.until === null)
      end(pending, { kind: 'held', reason: result.reason, until: null });
  }
  for (;;) {
    const [next] = open.toSorted((a, b) => a.at - b.at || slotOrder(a, b));
    if (!next) return { forecasts, yields };
    const { queued, at } = next;
    const forecast = forecastOf(next, at, queued.counts ? winnerOver(next) : null);
    if (forecast?.kind === 'sends' && queued.counts) claimed.set(queued.address, [at, ...claimsOf(next)]);
    if (forecast) end(next, forecast);
  }
}

test('does not depend on the order in which the queue was read', () => {
  fc.assert(
    fc.property(queues, policies, (queue, policy) => {
      const reversed = { ...queue, drafts: queue.drafts.toReversed() };
      expect(simulate(reversed, policy, NOW)).toEqual(simulate(queue, policy, NOW));
    }),
    { numRuns: 300 },
  );
});

test('compares each draft and the totals under two policies', () => {
  const address = 'shared@example.com';
  const queue = queueOf([
    draft('a', { address }),
    draft('b', { address, dueAt: NOW + 3 * HOUR }),
    draft('c', { address, dueAt: NOW + 6 * HOUR, expiresAt: NOW + 30 * HOUR }),
    draft('d', { ruleIsOn: false }),
    draft('e', { dueAt: NOW + HOUR }),
  ]);
  const current = { ...OPEN, caps: DAILY };
  const proposed = { ...OPEN, caps: [{ emails: 2, windowMs: DAY }] };
  const result = compare(queue, NOW, { current, proposed });
  expect(result.drafts).toEqual([
    { id: 'a', current: sends(NOW), proposed: sends(NOW) },
    { id: 'b', current: sends(NOW + DAY, 'frequency_cap'), proposed: sends(NOW + 3 * HOUR) },
    {
      id: 'c',
      current: { kind: 'expires', expiresAt: NOW + 30 * HOUR, after: 'frequency_cap' },
      proposed: sends(NOW + DAY, 'frequency_cap'),
    },
    {
      id: 'd',
      current: { kind: 'held', reason: 'rule_off', until: null },
      proposed: { kind: 'held', reason: 'rule_off', until: null },
    },
    { id: 'e', current: sends(NOW + HOUR), proposed: sends(NOW + HOUR) },
  ]);
  expect(result.totals).toEqual({
    current: {
      sends: 3,
      held: 1,
      expires: 1,
      reasons: { frequency_cap: 2, rule_off: 1 },
      lastLeavesAt: NOW + DAY,
    },
    proposed: {
      sends: 4,
      held: 1,
      expires: 0,
      reasons: { frequency_cap: 1, rule_off: 1 },
      lastLeavesAt: NOW + DAY,
    },
    earlier: 1,
    later: 0,
    unchanged: 2,
    medianShiftMs: -21 * HOUR,
  });
  const back = compare(queue, NOW, { current: proposed, proposed: current }).totals;
  expect([back.earlier, back.later, back.unchanged, back.medianShiftMs]).toEqual([0, 1, 2, 21 * HOUR]);
  expect(compare(queue, NOW, { current, proposed: current }).totals.medianShiftMs).toBeNull();
});

test('calculates the median of the moved drafts, using the lower one of two middle values', () => {
  const ago = { a: 23, b: 22, c: 14, d: 12 };
  const claims = Object.entries(ago).map(([id, hours]): [string, number[]] => [
    `${id}@example.com`,
    [NOW - hours * HOUR],
  ]);
  const policies = { current: OPEN, proposed: { ...OPEN, caps: DAILY } };
  const medianOf = (ids: string[]) =>
    compare(queueOf([draft('same'), ...ids.map((id) => draft(id))], claims), NOW, policies).totals
      .medianShiftMs;
  expect(medianOf(['c', 'a', 'b'])).toBe(2 * HOUR);
  expect(medianOf(['d', 'c', 'a', 'b'])).toBe(2 * HOUR);
  expect(medianOf(['d', 'c', 'b'])).toBe(10 * HOUR);
});

test('pauses a long simulation regularly so that other work runs, with the same result', () => {
  const queue = queueOf(Array.from({ length: 5_000 }, (_, n) => draft(String(n).padStart(4, '0'))));
  const steps = simulateQueue(queue, { ...OPEN, throttle: { emails: 1, perMs: 1_000 } }, NOW);
  let stops = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) stops += 1;
  expect(stops).toBeGreaterThanOrEqual(10);
  expect(step.value.size).toBe(5_000);
});
