import { expect, test } from 'vitest';
import type { Facts } from '../../platform/predicate/predicate.ts';
import { parsePredicate } from '../../platform/predicate/parse.ts';
import { builtUpTo, judge, type MembershipInput } from './evaluate-membership.ts';
import { buildModel, type EditionSource } from './model.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const idOf = (edition: number): string => `00000000-0000-7000-8000-${String(edition).padStart(12, '0')}`;

function source(edition: number, definition: unknown, more: Partial<EditionSource> = {}): EditionSource {
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const { predicate } = parsed;
  return {
    edition,
    audienceId: idOf(edition),
    name: `a${edition}`,
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
  dues?: [number, number][];
  now?: number;
  fired?: boolean;
}): MembershipInput {
  const { traits = {}, login, members = [], dues = [], now = NOW, fired = false } = more;
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
    standing: {
      members: new Map(members.map((edition) => [edition, new Date(NOW - DAY)])),
      dues: new Map(dues),
    },
    userId: 'u1',
    now,
    fired,
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
  for (const [who, move] of moves)
    expect(
      judge(model.editions, person({ ...who, members: [...('members' in who ? who.members : [])] })),
    ).toMatchObject([{ move, dueAt: null, dueWas: null, due: 'keep' }]);
});

test('evaluates a reference by the result of the same call where there is one, and otherwise by what is stored', () => {
  const model = buildModel([
    source(1, { all: [{ audience: idOf(2) }, { trait: 'a', is_set: true }] }),
    source(2, { not: { audience: idOf(3) } }),
    source(3, IS_PRO),
  ]);
  const joins = judge(model.editions, person({ traits: { a: 1 }, members: [3] }));
  expect(joins.map(({ edition, move }) => [edition.edition, move])).toEqual([
    [3, 'left'],
    [2, 'joined'],
    [1, 'joined'],
  ]);
  const first = model.editions.filter(({ edition }) => edition === 1);
  expect(judge(first, person({ traits: { a: 1 }, members: [2] }))).toMatchObject([{ move: 'joined' }]);
  expect(judge(first, person({ traits: { a: 1 } }))).toMatchObject([{ move: 'none', holds: false }]);
});

test('skips an edition that is not built up to this user, except for its builder', () => {
  const model = buildModel([source(1, IS_PRO, { state: 'building', builtTo: 'u0' })]);
  const pro = person({ traits: { plan: 'pro' } });
  expect(judge(model.editions, pro)).toEqual([]);
  const built = model.editions.map((edition) => builtUpTo(edition, 'u1'));
  expect(judge(built, pro)).toMatchObject([{ move: 'joined' }]);
});

test('keeps a stored timer that is too early, and writes a later one or a first one', () => {
  const model = buildModel([source(1, ACTIVE)]);
  const login = NOW - DAY;
  const leaves = login + 7 * DAY;
  const due = (stored?: number) =>
    judge(model.editions, person({ login, dues: stored === undefined ? [] : [[1, stored]] }))[0];
  expect(due()).toMatchObject({ dueAt: leaves, dueWas: null, due: 'set' });
  expect(due(leaves + 1)).toMatchObject({ dueAt: leaves, due: 'set' });
  expect(due(leaves)).toMatchObject({ due: 'keep' });
  expect(due(leaves - HOUR)).toMatchObject({ dueAt: leaves, dueWas: leaves - HOUR, due: 'keep' });
  // Time alone can change nothing anymore. The stored timer fires once and is then removed.
  expect(judge(model.editions, person({ dues: [[1, leaves]] }))).toMatchObject([
    { dueAt: null, due: 'keep' },
  ]);
});

test('replaces a timer that fired with the next one, or removes it', () => {
  const model = buildModel([source(1, ACTIVE)]);
  const fired = { fired: true, dues: [[1, NOW]] as [number, number][] };
  expect(judge(model.editions, person({ ...fired, login: NOW - DAY }))).toMatchObject([
    { holds: true, dueAt: NOW + 6 * DAY, due: 'set' },
  ]);
  expect(judge(model.editions, person({ ...fired, members: [1] }))).toMatchObject([
    { move: 'left', dueAt: null, due: 'remove' },
  ]);
  expect(judge(model.editions, person({ fired: true }))).toMatchObject([{ due: 'keep' }]);
});

test('limits an answer that depends on another audience to the time for which that one is valid', () => {
  const model = buildModel([source(1, ACTIVE), source(2, { not: { audience: idOf(1) } }), source(3, IS_PRO)]);
  const leaves = NOW + 6 * DAY;
  const both = judge(model.editions, person({ login: NOW - DAY }));
  expect(both.map(({ dueAt }) => dueAt)).toEqual([leaves, leaves, null]);
  const second = model.editions.filter(({ edition }) => edition === 2);
  expect(judge(second, person({ members: [1], dues: [[1, leaves - HOUR]] }))).toMatchObject([
    { holds: false, dueAt: leaves - HOUR, due: 'set' },
  ]);
});
