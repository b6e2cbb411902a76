import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { testHasher } from '../../../../testing/factories/send-services.ts';
import {
  addSuppression,
  addSuppressions,
  liftSuppressions,
  liftSuppressionsBy,
  setTopicUnsubscribes,
} from './store.ts';
import { findTopicUnsubscribes, findSuppressions } from '../../sending/suppressions/reads.ts';
import { hashTargets } from './erased.ts';
import { BOUNCE_REASONS, RECIPIENT_REASONS, type Suppression, SUPPRESSION_REASONS } from './entries.ts';
import { listSuppressions, findLift } from './reads.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);

let projectId = 0;
beforeEach(() => {
  projectId += 10;
});

const now = (): number => clock.now();
const suppression = (more: Partial<Suppression> = {}): Suppression => ({
  projectId,
  kind: 'email',
  value: 'ada@example.com',
  reason: 'hard_bounce',
  until: null,
  createdAt: now(),
  createdBy: 'engine',
  ...more,
});
const add = (more: Partial<Suppression> = {}): Promise<boolean> => addSuppression(db, suppression(more));
const person = (value: string): Partial<Suppression> => ({ kind: 'user', value, reason: 'unsubscribed' });
const find = (addressees: [userId: string, address: string | null][], at = now()) =>
  findSuppressions(
    db,
    addressees.map(([userId, address]) => ({ projectId, userId, address })),
    at,
  );
const list = () => listSuppressions(db, { projectId, limit: 10 });

test('suppresses an address for every user with it, and a user at every address', async () => {
  await add();
  await add(person('u2'));
  // One user's id is another user's address.
  await add(person('eve@example.com'));
  await add({ projectId: projectId + 1, value: 'bob@example.com' });
  const bounced = { reason: 'hard_bounce', until: null };
  const unsubscribed = { reason: 'unsubscribed', until: null };
  expect(
    await find([
      ['u1', 'ada@example.com'],
      ['u2', 'new@example.com'],
      ['u3', 'bob@example.com'],
      ['u2', null],
      ['u4', 'ADA@Example.com'],
      ['u5', 'eve@example.com'],
      ['ada@example.com', null],
    ]),
  ).toEqual([bounced, unsubscribed, null, unsubscribed, bounced, null, null]);
  expect(await find([])).toEqual([]);
});

test('looks up users of several projects at once', async () => {
  await add();
  const addressees = [projectId + 1, projectId].map((id) => ({
    projectId: id,
    userId: 'u1',
    address: 'ada@example.com',
  }));
  expect(await findSuppressions(db, addressees, now())).toEqual([
    null,
    { reason: 'hard_bounce', until: null },
  ]);
});

test('ignores ended suppressions, and returns the one that lasts longer', async () => {
  const until = now() + 1_000;
  await add({ ...person('u1'), reason: 'snoozed', until });
  await add({ until: until + 5, reason: 'soft_bounces' });
  await add({ value: 'bob@example.com' });
  const addressees: [string, string][] = [
    ['u1', 'x@example.com'],
    ['u1', 'ada@example.com'],
    ['u1', 'bob@example.com'],
  ];
  const soft = { reason: 'soft_bounces', until: until + 5 };
  const hard = { reason: 'hard_bounce', until: null };
  expect(await find(addressees)).toEqual([{ reason: 'snoozed', until }, soft, hard]);
  expect(await find(addressees, until - 1)).toEqual([{ reason: 'snoozed', until }, soft, hard]);
  expect(await find(addressees, until)).toEqual([null, soft, hard]);
  expect(await find(addressees, until + 5)).toEqual([null, null, hard]);
});

test('keeps one row for different spellings of one mailbox', async () => {
  await add({ value: 'Ada@Bücher.de' });
  expect(await add({ value: 'ada@xn--bcher-kva.DE' })).toBe(false);
  expect(await list()).toEqual([suppression({ value: 'ada@xn--bcher-kva.de' })]);
  expect(await find([['u1', 'ada@BÜCHER.de']])).toMatchObject([{ reason: 'hard_bounce' }]);
  const target = { projectId, kind: 'email', value: 'ADA@bücher.de' } as const;
  const lift = () =>
    liftSuppressions(db, { targets: [target], reasons: SUPPRESSION_REASONS, at: now(), by: 'ann' });
  expect([await lift(), await lift()]).toEqual([1, 0]);
  expect(await findLift(db, target)).toEqual({
    reason: 'hard_bounce',
    suppressedAt: now(),
    suppressedBy: 'engine',
    liftedAt: now(),
    liftedBy: 'ann',
  });
  expect(await findLift(db, { ...target, kind: 'user' })).toBeUndefined();
  expect(await list()).toEqual([]);
});

test.each<[string, Partial<Suppression>[], Partial<Suppression>]>([
  [
    'a snooze shortens nothing',
    [{}, { reason: 'snoozed', until: 5 }],
    { reason: 'hard_bounce', until: null },
  ],
  [
    'what ends gives way to what does not',
    [{ until: 5 }, { reason: 'manual' }],
    { reason: 'manual', until: null },
  ],
  [
    'what ends gives way to what ends later',
    [
      { reason: 'soft_bounces', until: 5 },
      { reason: 'snoozed', until: 9 },
    ],
    { reason: 'snoozed', until: 9 },
  ],
  [
    'an unsubscription takes the place of a bounce, which a sign of life would lift',
    [{}, { reason: 'unsubscribed' }],
    { reason: 'unsubscribed' },
  ],
  ['and no bounce that of an unsubscription', [{ reason: 'unsubscribed' }, {}], { reason: 'unsubscribed' }],
  ['nor a complaint', [{ reason: 'unsubscribed' }, { reason: 'complained' }], { reason: 'unsubscribed' }],
])('a later entry never ends a suppression earlier: %s', async (_, added, left) => {
  const moment = (n: number | null | undefined): number | null => (typeof n === 'number' ? now() + n : null);
  for (const entry of added) await add({ ...entry, until: moment(entry.until) });
  expect(await list()).toMatchObject([{ ...left, until: moment(left.until) }]);
});

test('continues the list after the last item of the previous page', async () => {
  const all = [
    suppression({ value: 'a@example.com', reason: 'manual', createdBy: 'operator', until: now() + 7 }),
    suppression({ value: 'z@example.com' }),
    suppression(person('A')),
    suppression(person('u😀')),
  ];
  for (const entry of all.toReversed()) await addSuppression(db, entry);
  await add({ projectId: projectId + 1 });
  const page = (after: Suppression | null, limit: number) =>
    listSuppressions(db, { projectId, after, limit });
  expect(await page(null, 10)).toEqual(all);
  expect(await page(null, 3)).toEqual(all.slice(0, 3));
  expect(await page(all[2] ?? null, 3)).toEqual(all.slice(3));
  expect(await page(all[3] ?? null, 3)).toEqual([]);
});

const eraseId = (userId: string): Promise<number> =>
  hashTargets(db, {
    hasher: testHasher,
    targets: [{ projectId, kind: 'user', value: userId }],
    now: now(),
  });

test('removes the name of an erased user, and keeps their address suppressed', async () => {
  await add();
  await add(person('u1'));
  await add(person('u2'));
  const erase = () => eraseId('u1');
  expect([await erase(), await erase()]).toEqual([1, 0]);
  // Many projects use the address as the id.
  expect(await eraseId('ada@example.com')).toBe(0);
  expect(
    await find([
      ['u1', 'ada@example.com'],
      ['u1', null],
      ['u2', null],
    ]),
  ).toMatchObject([{ reason: 'hard_bounce' }, null, { reason: 'unsubscribed' }]);
});

test('keeps the strongest entry per place when many are added, and returns the places with a new entry in front', async () => {
  await add({ value: 'known@x.org', reason: 'unsubscribed' });
  const rows = [
    suppression({ value: 'twice@x.org', reason: 'hard_bounce' }),
    suppression({ value: 'TWICE@x.org', reason: 'complained' }),
    suppression({ value: 'twice@x.org', reason: 'snoozed', until: now() + 1 }),
    suppression({ value: 'known@x.org', reason: 'manual' }),
    suppression(person('u1')),
  ];
  const added = await addSuppressions(db, rows);
  expect(added.map(({ value }) => value).toSorted()).toEqual(['twice@x.org', 'u1']);
  expect((await list()).map(({ value, reason }) => [value, reason])).toEqual([
    ['known@x.org', 'unsubscribed'],
    ['twice@x.org', 'complained'],
    ['u1', 'unsubscribed'],
  ]);
  expect(await addSuppressions(db, [])).toEqual([]);
});

test("prefers the recipient's choice, so that lifting another entry does not undo it", async () => {
  for (const reason of ['hard_bounce', 'manual', 'unsubscribed', 'manual', 'hard_bounce'] as const)
    await add({ reason });
  expect(await list()).toMatchObject([{ reason: 'unsubscribed' }]);
});

test('lifts only bounces of the given addresses when a mailbox proves to work', async () => {
  await add({ value: 'hard@x.org' });
  await add({ value: 'soft@x.org', reason: 'soft_bounces', until: now() + 5 });
  await add({ value: 'gone@x.org', reason: 'complained' });
  await add({ value: 'other@x.org' });
  const alive = ['HARD@x.org', 'soft@x.org', 'gone@x.org', 'none@x.org'];
  const lift = (of: number) => {
    const targets = alive.map((value) => ({ projectId: of, kind: 'email' as const, value }));
    return liftSuppressions(db, { targets, reasons: BOUNCE_REASONS, at: now(), by: 'engine' });
  };
  expect([await lift(projectId + 1), await lift(projectId), await lift(projectId)]).toEqual([0, 2, 0]);
  expect((await list()).map(({ value }) => value)).toEqual(['gone@x.org', 'other@x.org']);
});

test('refuses topics for the user and the mailbox, and resubscribes by topic name', async () => {
  const targets = [
    { projectId, kind: 'user' as const, value: 'u1' },
    { projectId, kind: 'email' as const, value: 'Ada@X.org' },
  ];
  const set = (refused: string[], accepted: string[]) =>
    setTopicUnsubscribes(db, { targets, refused, accepted, at: now() });
  await set(['news', 'tips'], []);
  await set(['news'], ['tips', 'never']);
  await set(['news', 'old'], []);
  const refusals = async () =>
    (
      await findTopicUnsubscribes(db, [
        { projectId, userId: 'u1', address: 'new@x.org' },
        { projectId, userId: 'u2', address: 'ada@x.org' },
        { projectId, userId: 'u1', address: null },
        { projectId, userId: 'ada@x.org', address: 'u1' },
        { projectId: projectId + 1, userId: 'u1', address: 'ada@x.org' },
      ])
    ).map((topics) => [...topics].toSorted());
  expect(await refusals()).toEqual([['news', 'old'], ['news', 'old'], ['news', 'old'], [], []]);
  expect(await eraseId('u1')).toBe(2);
  expect(await refusals()).toEqual([[], ['news', 'old'], [], [], []]);
});

const lift = (...reasons: Suppression['reason'][]) =>
  liftSuppressions(db, {
    targets: [{ projectId, kind: 'email', value: 'ada@example.com' }],
    reasons,
    at: now(),
    by: 'ann',
  });

test('lifts only the entry of one side, and restores the other as it was', async () => {
  await add({ reason: 'manual', createdBy: 'ann' });
  await add({ reason: 'unsubscribed', createdAt: now() + 5, createdBy: 'recipient' });
  expect(await list()).toMatchObject([{ reason: 'unsubscribed', createdAt: now() + 5 }]);
  expect([await lift('unsubscribed'), await lift('unsubscribed')]).toEqual([1, 0]);
  expect(await list()).toEqual([suppression({ reason: 'manual', createdBy: 'ann' })]);
  expect(await lift('manual')).toBe(1);
  expect(await list()).toEqual([]);
});

test('restores a snooze that is still running after the bounce in front of it is lifted', async () => {
  const until = now() + 1_000;
  await add({ reason: 'snoozed', until });
  await add();
  expect(await list()).toMatchObject([{ reason: 'hard_bounce', until: null }]);
  expect(await lift('hard_bounce')).toBe(1);
  expect(await list()).toMatchObject([{ reason: 'snoozed', until }]);
});

test("lifts a bounce behind the recipient's entry, and lifts both if all reasons are given", async () => {
  await add();
  await add({ reason: 'unsubscribed' });
  expect(await lift(...BOUNCE_REASONS)).toBe(0);
  expect([await lift('unsubscribed'), await list()]).toEqual([1, []]);
  await add({ reason: 'manual' });
  await add({ reason: 'complained' });
  expect([await lift(...SUPPRESSION_REASONS), await list()]).toEqual([1, []]);
});

test('keeps the strongest entry of the other side below', async () => {
  await add({ reason: 'unsubscribed' });
  await add({ reason: 'soft_bounces', until: now() + 1_000 });
  await add({ reason: 'manual' });
  await add({ reason: 'hard_bounce' });
  await lift('unsubscribed');
  expect(await list()).toMatchObject([{ reason: 'manual', until: null }]);
});

test.each<[string, Suppression['reason'][]]>([
  ['the team spoke first', ['manual', 'hard_bounce']],
  ['the team spoke last', ['hard_bounce', 'manual']],
  ['a break of the recipient lies there too', ['snoozed', 'hard_bounce', 'manual']],
  ['a break comes in between', ['manual', 'snoozed', 'hard_bounce']],
])("keeps the team's entry in force after a bounce is lifted: %s", async (_, reasons) => {
  const ends = { snoozed: now() + 500, manual: now() + 1_000 } as Record<string, number>;
  for (const reason of reasons) await add({ reason, until: ends[reason] ?? null });
  expect(await list()).toMatchObject([{ reason: 'hard_bounce', until: null }]);
  expect(await lift(...BOUNCE_REASONS)).toBe(1);
  expect(await find([['u1', 'ada@example.com']], now() + 999)).toEqual([
    { reason: 'manual', until: now() + 1_000 },
  ]);
  expect(await lift('manual')).toBe(1);
  expect((await list()).map(({ reason }) => reason)).toEqual(
    reasons.filter((reason) => reason === 'snoozed'),
  );
});

test('keeps both of two entries for one place that arrive together, in any order', async () => {
  for (const value of ['a@x.org', 'b@x.org']) {
    const both = (['unsubscribed', 'manual'] as const).map((reason) => suppression({ value, reason }));
    expect(await addSuppressions(db, value === 'a@x.org' ? both : both.toReversed())).toHaveLength(1);
    expect(await addSuppressions(db, both)).toEqual([]);
    const target = { projectId, kind: 'email' as const, value };
    const resubscribed = { targets: [target], reasons: RECIPIENT_REASONS, at: now(), by: 'recipient' };
    expect(await liftSuppressions(db, resubscribed)).toBe(1);
  }
  expect(await list()).toMatchObject([
    { value: 'a@x.org', reason: 'manual' },
    { value: 'b@x.org', reason: 'manual' },
  ]);
});

test('lifts a bounce that was caused by the sender from any position, and nothing else', async () => {
  const until = now() + 1_000;
  const refused = { reason: 'hard_bounce', createdBy: 'engine: no' } as const;
  await addSuppressions(db, [suppression({ ...refused, value: 'alone@x.org' })]);
  for (const reason of ['manual', 'unsubscribed'] as const)
    for (const end of [until, null])
      await addSuppressions(db, [
        suppression({ ...refused, value: `${reason}${end ?? ''}@x.org` }),
        suppression({ value: `${reason}${end ?? ''}@x.org`, reason, until: end }),
      ]);
  await addSuppressions(db, [suppression({ value: 'other@x.org', createdBy: 'engine: away' })]);
  const back = { projectId, reason: 'hard_bounce', createdBy: 'engine: no' } as const;
  // These were in front; the ones below are gone as well.
  expect(await liftSuppressionsBy(db, back)).toBe(3);
  expect((await list()).map(({ reason, until: end }) => [reason, end])).toEqual([
    ['manual', until],
    ['manual', null],
    ['hard_bounce', null],
    ['unsubscribed', until],
    ['unsubscribed', null],
  ]);
  for (const reason of ['manual', 'unsubscribed'] as const)
    await liftSuppressions(db, {
      targets: ['', until].map((end) => ({ projectId, kind: 'email', value: `${reason}${end}@x.org` })),
      reasons: [reason],
      at: now(),
      by: 'ann',
    });
  expect((await list()).map(({ value }) => value)).toEqual(['other@x.org']);
});
