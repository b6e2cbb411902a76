import { expect, test } from 'vitest';
import type { Facts } from '../../platform/predicate/predicate.ts';
import { parsePredicate } from '../../platform/predicate/parse.ts';
import { evaluateMemberships, type MembershipInput } from './evaluate-membership.ts';
import { buildModel, type AudienceVersionSource } from '../audiences/model.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const idOf = (versionId: number): string => `00000000-0000-7000-8000-${String(versionId).padStart(12, '0')}`;

function source(
  versionId: number,
  definition: unknown,
  more: Partial<AudienceVersionSource> = {},
): AudienceVersionSource {
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const { predicate } = parsed;
  return {
    versionId,
    audienceId: idOf(versionId),
    name: `a${versionId}`,
    state: 'served',
    builtTo: null,
    built: 0,
    predicate,
    ...more,
  };
}

/** A user with these traits, whose newest and only login was at the given time. */
function person(more: {
  traits?: Record<string, unknown>;
  login?: number;
  members?: number[];
  timers?: [number, number][];
  now?: number;
  isDue?: boolean;
}): MembershipInput {
  const { traits = {}, login, members = [], timers = [], now = NOW, isDue = false } = more;
  const facts: Omit<Facts, 'now' | 'isMember'> = {
    email: null,
    trait: (key) => traits[key],
    total: () => undefined,
    nth: ({ nth, window }) =>
      login !== undefined && nth === 1 && login > now - window.withinMs ? login : null,
    sum: () => ({ sum: 0, oldestAt: null }),
  };
  return {
    facts,
    membership: {
      members: new Map(members.map((versionId) => [versionId, new Date(NOW - DAY)])),
      timers: new Map(timers),
    },
    userId: 'u1',
    now,
    isDue,
  };
}

const IS_PRO = { trait: 'plan', equals: 'pro' };
const ACTIVE = { event: 'login', at_least: 1, within: '7d' };

test('lets a user who newly matches join and one who no longer matches leave, and changes nothing else', () => {
  const model = buildModel([source(1, IS_PRO)]);
  const moves = [
    [{ traits: { plan: 'pro' } }, 'joined'],
    [{ traits: { plan: 'pro' }, members: [1] }, 'none'],
    [{ members: [1] }, 'left'],
    [{}, 'none'],
  ] as const;
  for (const [state, move] of moves)
    expect(
      evaluateMemberships(
        model.versions,
        person({ ...state, members: [...('members' in state ? state.members : [])] }),
      ),
    ).toMatchObject([{ move, dueAt: null, storedDueAt: null, timer: 'keep' }]);
});

test('evaluates a reference by the result of the same call where there is one, and otherwise by what is stored', () => {
  const model = buildModel([
    source(1, { all: [{ audience: idOf(2) }, { trait: 'a', is_set: true }] }),
    source(2, { not: { audience: idOf(3) } }),
    source(3, IS_PRO),
  ]);
  const joins = evaluateMemberships(model.versions, person({ traits: { a: 1 }, members: [3] }));
  expect(joins.map(({ version, move }) => [version.versionId, move])).toEqual([
    [3, 'left'],
    [2, 'joined'],
    [1, 'joined'],
  ]);
  const first = model.versions.filter(({ versionId }) => versionId === 1);
  expect(evaluateMemberships(first, person({ traits: { a: 1 }, members: [2] }))).toMatchObject([
    { move: 'joined' },
  ]);
  expect(evaluateMemberships(first, person({ traits: { a: 1 } }))).toMatchObject([
    { move: 'none', matches: false },
  ]);
});

test('skips a version that is not built up to this user, except for its builder', () => {
  const model = buildModel([source(1, IS_PRO, { state: 'building', builtTo: 'u0' })]);
  const pro = person({ traits: { plan: 'pro' } });
  expect(evaluateMemberships(model.versions, pro)).toEqual([]);
  const built = model.versions.map((version) => ({ ...version, builtTo: 'u1' }));
  expect(evaluateMemberships(built, pro)).toMatchObject([{ move: 'joined' }]);
});

test('keeps a stored timer that is too early, and writes a later one or a first one', () => {
  const model = buildModel([source(1, ACTIVE)]);
  const login = NOW - DAY;
  const leaves = login + 7 * DAY;
  const timerAfter = (stored?: number) =>
    evaluateMemberships(
      model.versions,
      person({ login, timers: stored === undefined ? [] : [[1, stored]] }),
    )[0];
  expect(timerAfter()).toMatchObject({ dueAt: leaves, storedDueAt: null, timer: 'set' });
  expect(timerAfter(leaves + 1)).toMatchObject({ dueAt: leaves, timer: 'set' });
  expect(timerAfter(leaves)).toMatchObject({ timer: 'keep' });
  expect(timerAfter(leaves - HOUR)).toMatchObject({
    dueAt: leaves,
    storedDueAt: leaves - HOUR,
    timer: 'keep',
  });
  // Time alone can change nothing anymore. The stored timer fires once and is then removed.
  expect(evaluateMemberships(model.versions, person({ timers: [[1, leaves]] }))).toMatchObject([
    { dueAt: null, timer: 'keep' },
  ]);
});

test('replaces a timer that fired with the next one, or removes it', () => {
  const model = buildModel([source(1, ACTIVE)]);
  const due = { isDue: true, timers: [[1, NOW]] as [number, number][] };
  expect(evaluateMemberships(model.versions, person({ ...due, login: NOW - DAY }))).toMatchObject([
    { matches: true, dueAt: NOW + 6 * DAY, timer: 'set' },
  ]);
  expect(evaluateMemberships(model.versions, person({ ...due, members: [1] }))).toMatchObject([
    { move: 'left', dueAt: null, timer: 'remove' },
  ]);
  expect(evaluateMemberships(model.versions, person({ isDue: true }))).toMatchObject([{ timer: 'keep' }]);
});

test('limits an answer that depends on another audience to the time for which that one is valid', () => {
  const model = buildModel([source(1, ACTIVE), source(2, { not: { audience: idOf(1) } }), source(3, IS_PRO)]);
  const leaves = NOW + 6 * DAY;
  const evaluations = evaluateMemberships(model.versions, person({ login: NOW - DAY }));
  expect(evaluations.map(({ dueAt }) => dueAt)).toEqual([leaves, leaves, null]);
  const second = model.versions.filter(({ versionId }) => versionId === 2);
  expect(evaluateMemberships(second, person({ members: [1], timers: [[1, leaves - HOUR]] }))).toMatchObject([
    { matches: false, dueAt: leaves - HOUR, timer: 'set' },
  ]);
});
