import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DkimKey, RETIRES_AFTER_MS, SETTLES_MS } from './dkim-key.ts';
import type { DomainState } from './domain.ts';
import { afterCheck, nextCheckAt, type DnsCheckResult } from './state.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const initial = {
  state: 'pending' as DomainState,
  misses: 0,
  failingSince: null as number | null,
  verifiedAt: null as number | null,
  warm: false,
  warmupFrom: null as number | null,
};
type CheckedState = typeof initial;

const play = (from: Partial<CheckedState>, looks: [DnsCheckResult, at: number][]): CheckedState => {
  let now: CheckedState = { ...initial, ...from };
  for (const [outcome, at] of looks) now = afterCheck(now, outcome, at);
  return now;
};
const verified = { state: 'verified' as const, verifiedAt: 1, warmupFrom: 1 };

test.each<[string, Partial<CheckedState>, [DnsCheckResult, number][], Partial<CheckedState>]>([
  [
    'is verified as soon as all is right',
    {},
    [
      ['wrong', 0],
      ['right', 5],
    ],
    { state: 'verified', verifiedAt: 5, misses: 0, warmupFrom: 5 },
  ],
  [
    'waits however long something is missing',
    {},
    [
      ['wrong', 0],
      ['wrong', 30 * DAY],
      ['wrong', 90 * DAY],
    ],
    { state: 'pending' },
  ],
  [
    'shows a fault at the first miss',
    verified,
    [['wrong', 10]],
    { state: 'degraded', failingSince: 10, misses: 1 },
  ],
  [
    'is not given up for two misses, however far apart',
    verified,
    [
      ['wrong', 0],
      ['wrong', 9 * DAY],
    ],
    { state: 'degraded' },
  ],
  [
    'nor for many within an hour',
    verified,
    [0, 1, 2, 3, HOUR - 1].map((at): [DnsCheckResult, number] => ['wrong', at]),
    { state: 'degraded' },
  ],
  [
    'but for three over an hour',
    verified,
    [
      ['wrong', 0],
      ['wrong', 1],
      ['wrong', HOUR],
    ],
    { state: 'failed', failingSince: 0, verifiedAt: 1 },
  ],
  [
    'comes right again at once when degraded',
    verified,
    [
      ['wrong', 0],
      ['right', 9],
    ],
    { state: 'verified', verifiedAt: 1, warmupFrom: 1, misses: 0, failingSince: null },
  ],
  [
    'and when failed, without beginning slowly again',
    { ...verified, state: 'failed', misses: 3, failingSince: 0 },
    [['right', 9]],
    { state: 'verified', verifiedAt: 9, warmupFrom: 1 },
  ],
  [
    'counts misses from zero after a correct answer',
    verified,
    [
      ['wrong', 0],
      ['wrong', HOUR],
      ['right', HOUR],
      ['wrong', 2 * HOUR],
      ['wrong', 3 * HOUR],
    ],
    { state: 'degraded', misses: 2 },
  ],
  [
    'has no slow beginning when it is warm',
    { warm: true },
    [['right', 5]],
    { state: 'verified', warmupFrom: null },
  ],
])('moves the state of a domain: %s', (...[, from, looks, expected]) => {
  expect(play(from, looks)).toMatchObject(expected);
});

const outcomes = fc.constantFrom<DnsCheckResult>('right', 'wrong', 'unknown');
const history = fc.array(fc.tuple(outcomes, fc.nat(2 * HOUR)), { maxLength: 40 }).map((steps) => {
  let at = 0;
  return steps.map(([outcome, wait]): [DnsCheckResult, number] => [outcome, (at += wait)]);
});
const states = fc.constantFrom<DomainState>('pending', 'verified', 'degraded', 'failed');

test('changes no state while DNS does not answer, at any point of the history', () => {
  fc.assert(
    fc.property(states, history, (state, looks) => {
      const withReply = looks.filter(([outcome]) => outcome !== 'unknown');
      expect(play({ state }, looks)).toEqual(play({ state }, withReply));
    }),
  );
});

test('stops sending only after three misses in a row over an hour, and resumes at the first correct check', () => {
  fc.assert(
    fc.property(history, (looks) => {
      let now: CheckedState = { ...initial, ...verified };
      let misses: number[] = [];
      for (const [outcome, at] of looks) {
        now = afterCheck(now, outcome, at);
        if (outcome === 'right') misses = [];
        if (outcome === 'wrong') misses.push(at);
        const hasLasted = misses.length >= 3 && (misses.at(-1) ?? 0) - (misses[0] ?? 0) >= HOUR;
        const expected = misses.length === 0 ? 'verified' : hasLasted ? 'failed' : 'degraded';
        expect(now.state).toBe(expected);
      }
    }),
  );
});

const at = 1_000 * DAY;
const next = (
  state: DomainState,
  more: { age?: number; outcome?: DnsCheckResult; keys?: DkimKey[] } = {},
): number => {
  const since = at - (more.age ?? 0);
  const domain = { state, createdAt: since, failingSince: state === 'failed' ? since : null };
  return nextCheckAt(domain, more.keys ?? [], { outcome: more.outcome ?? 'wrong', now: at }) - at;
};

test('checks a pending domain every minute at first, later every hour, and after three days every day', () => {
  expect(
    [0, 4 * MINUTE, 40 * MINUTE, 4 * HOUR, 71 * HOUR, 72 * HOUR, 90 * DAY].map((age) =>
      next('pending', { age }),
    ),
  ).toEqual([MINUTE, MINUTE, 10 * MINUTE, HOUR, HOUR, DAY, DAY]);
  expect([HOUR, 4 * HOUR, 73 * HOUR].map((age) => next('failed', { age }))).toEqual([15 * MINUTE, HOUR, DAY]);
});

test('checks a verified domain every day, and sooner after a DNS failure or an error', () => {
  expect(next('verified', { outcome: 'right' })).toBe(DAY);
  expect(next('verified', { outcome: 'unknown' })).toBe(HOUR);
  expect(next('degraded')).toBe(20 * MINUTE);
});

test('checks a key in preparation on its own schedule', () => {
  const key: DkimKey = {
    projectId: 1,
    domainId: 'd',
    slot: 'b',
    state: 'pending',
    publicKey: '',
    createdAt: at,
    changedAt: at,
  };
  const timed = (more: Partial<DkimKey>): number =>
    next('verified', { outcome: 'right', keys: [{ ...key, ...more }] });
  expect(timed({})).toBe(MINUTE);
  expect(timed({ createdAt: at - 2 * HOUR })).toBe(30 * MINUTE);
  expect(timed({ state: 'published' })).toBe(SETTLES_MS);
  expect(timed({ state: 'published', changedAt: at - 2 * SETTLES_MS })).toBe(MINUTE);
  expect(timed({ state: 'retiring' })).toBe(DAY);
  expect(timed({ state: 'retiring', changedAt: at - RETIRES_AFTER_MS + HOUR })).toBe(HOUR);
  expect(timed({ state: 'active' })).toBe(DAY);
});
