import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { createAudience } from './change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { eraseMemberships, findMemberships, type MembershipWrites, writeMemberships } from './memberships.ts';
import { nextDueAt } from '../rules/next-timer.ts';
import { listBuilding, serveAudienceVersion } from './build-version.ts';
import type { MembershipEvaluation } from '../processing/evaluate-membership.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';
import { addEvaluations, noWrites } from '../processing/membership-writes.ts';
import { listDueAudienceTimers } from '../processing/audience-timers.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);

const now = (): Date => new Date(clock.now());
const minutes = (n: number): Date => new Date(clock.now() + n * 60_000);

type World = { projectId: number; audienceId: string; versionId: number };
async function world(served = true): Promise<World> {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const definition = { trait: 'plan', equals: 'pro' };
  const { id: audienceId } = await createAudience(
    { db, listRuleNeeds },
    { projectId, name: 'Pro', definition },
  );
  const [building] = (await listBuilding(db, 1_000)).filter((key) => key.projectId === projectId);
  const versionId = building?.versionId ?? 0;
  if (served) await db.transaction((tx) => serveAudienceVersion(tx, { projectId, versionId, now: now() }));
  return { projectId, audienceId, versionId };
}

let a: World;
let b: World;
beforeEach(async () => {
  a = await world();
  b = await world();
});

const keyOf = ({ projectId, versionId }: World, userId: string) => ({ projectId, userId, versionId });
const write = (writes: Partial<MembershipWrites>): Promise<void> =>
  db.transaction((tx) => writeMemberships(tx, { ...noWrites(), ...writes }, now()));

async function counted({ projectId, versionId }: World): Promise<{ members: number; rows: number }> {
  const [row] = await db.query<{ members: number; rows: number }>(
    `SELECT members, (SELECT count(*) FROM beckon.audience_member m WHERE m.project_id = e.project_id AND m.version_id = e.version_id) AS rows
     FROM beckon.audience_version e WHERE project_id = $1 AND version_id = $2`,
    [projectId, versionId],
  );
  return row ?? { members: -1, rows: -1 };
}

const days = ({ projectId }: World) =>
  db.query(
    `SELECT day::text AS day, joined, left_count, members FROM beckon.audience_day WHERE project_id = $1 ORDER BY day`,
    [projectId],
  );

/** A `Tx` that records the queries it gets. */
function counting(): { tx: Tx; sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    tx: {
      query: (text, values) => (sent.push(text), db.query(text, values)),
      prepared: (query) => (sent.push(query.name), db.prepared(query)),
    },
  };
}

test('writes and reads members and timers of users of two projects at once, in the given order', async () => {
  const since = minutes(-5);
  await write({
    joined: [
      { ...keyOf(b, 'same'), since },
      { ...keyOf(a, 'same'), since: now() },
      { ...keyOf(a, 'u😀'), since },
    ],
    newTimers: [
      { ...keyOf(b, 'same'), at: minutes(3) },
      { ...keyOf(a, 'none'), at: minutes(4) },
    ],
  });
  const people = [
    { projectId: a.projectId, userId: 'u😀' },
    { projectId: b.projectId, userId: 'same' },
    { projectId: a.projectId, userId: 'unknown' },
    { projectId: a.projectId, userId: 'none' },
    { projectId: a.projectId, userId: 'same' },
  ];
  const { tx, sent } = counting();
  const memberships = await findMemberships(tx, people);
  expect(sent).toHaveLength(1);
  expect(memberships).toEqual([
    { members: new Map([[a.versionId, since]]), timers: new Map() },
    { members: new Map([[b.versionId, since]]), timers: new Map([[b.versionId, minutes(3).getTime()]]) },
    { members: new Map(), timers: new Map() },
    { members: new Map(), timers: new Map([[a.versionId, minutes(4).getTime()]]) },
    { members: new Map([[a.versionId, now()]]), timers: new Map() },
  ]);
  expect(
    (await findMemberships(db, people, { withTimers: false })).map(({ timers: dues }) => dues.size),
  ).toEqual([0, 0, 0, 0, 0]);
  expect([await nextDueAt(db, a.projectId), await nextDueAt(db, b.projectId)]).toEqual([
    minutes(4),
    minutes(3),
  ]);
});

test('sends no query for an empty input, and otherwise one statement per kind', async () => {
  const nothing = counting();
  await writeMemberships(nothing.tx, noWrites(), now());
  expect(await findMemberships(nothing.tx, [])).toEqual([]);
  expect(nothing.sent).toEqual([]);
  const all = counting();
  const people = Array.from({ length: 50 }, (_, i) => keyOf(i % 2 ? a : b, `u${i}`));
  await writeMemberships(
    all.tx,
    {
      joined: people.map((key) => ({ ...key, since: now() })),
      left: people.map((key) => ({ ...key, userId: `gone_${key.userId}` })),
      newTimers: people.map((key) => ({ ...key, at: now() })),
      staleTimers: people.map((key) => ({ ...key, userId: `gone_${key.userId}` })),
    },
    now(),
  );
  expect(all.sent.length).toBe(new Set(all.sent).size);
  expect(all.sent.length).toBeLessThanOrEqual(6);
});

test('keeps member counts equal to the rows, and records per day how many users joined and left', async () => {
  const step = fc.record({
    joined: fc.uniqueArray(fc.integer({ min: 0, max: 8 })),
    left: fc.uniqueArray(fc.integer({ min: 0, max: 8 })),
    of: fc.constantFrom(0, 1),
    erase: fc.option(fc.integer({ min: 0, max: 8 })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const worlds = [await world(), await world(false)];
      for (const { joined, left, of, erase } of steps) {
        const at = worlds[of] as World;
        // A user in both lists only joins.
        const going = left.filter((n) => !joined.includes(n));
        await write({
          joined: joined.map((n) => ({ ...keyOf(at, `u${n}`), since: now() })),
          left: going.map((n) => keyOf(at, `u${n}`)),
        });
        if (erase !== null)
          await db.transaction((tx) =>
            eraseMemberships(tx, { projectId: at.projectId, userId: `u${erase}`, now: now() }),
          );
      }
      for (const project of worlds) {
        const { members, rows } = await counted(project);
        expect(members).toBe(rows);
      }
      const [served, building] = worlds as [World, World];
      const [day] = (await days(served)) as { joined: number; left_count: number; members: number }[];
      expect(day?.members).toBe((await counted(served)).members);
      expect((day?.joined ?? 0) - (day?.left_count ?? 0)).toBe(day?.members);
      // A version that is not served yet has no growth.
      expect(await days(building)).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test('does not count a second join, nor a departure of a user who was not a member', async () => {
  const joined = [{ ...keyOf(a, 'u1'), since: now() }];
  await write({ joined });
  await write({ joined, left: [keyOf(a, 'u2')] });
  expect(await counted(a)).toEqual({ members: 1, rows: 1 });
  expect(await days(a)).toEqual([{ day: '2026-01-15', joined: 1, left_count: 0, members: 1 }]);
});

test('counts days in UTC, each with the members at its end', async () => {
  await write({ joined: ['u1', 'u2'].map((id) => ({ ...keyOf(a, id), since: now() })) });
  clock.advance(12 * 3_600_000);
  await write({ left: [keyOf(a, 'u1')], joined: [{ ...keyOf(a, 'u3'), since: now() }] });
  await write({ left: [keyOf(a, 'u3')] });
  expect(await days(a)).toEqual([
    { day: '2026-01-15', joined: 2, left_count: 0, members: 2 },
    { day: '2026-01-16', joined: 1, left_count: 2, members: 1 },
  ]);
});

test('moves a timer, removes it when nothing is due, and lists the longest overdue first', async () => {
  await write({ newTimers: ['u1', 'u2', 'u3'].map((id, i) => ({ ...keyOf(a, id), at: minutes(-i) })) });
  await write({ newTimers: [{ ...keyOf(a, 'u3'), at: minutes(5) }], staleTimers: [keyOf(a, 'u1')] });
  await write({ newTimers: [{ ...keyOf(a, 'u4'), at: minutes(-9) }] });
  expect(await listDueAudienceTimers(db, { projectId: a.projectId, now: now(), limit: 10 })).toEqual([
    { userId: 'u4', versionId: a.versionId, at: minutes(-9) },
    { userId: 'u2', versionId: a.versionId, at: minutes(-1) },
  ]);
  expect(await listDueAudienceTimers(db, { projectId: a.projectId, now: now(), limit: 1 })).toHaveLength(1);
  expect(await nextDueAt(db, b.projectId)).toBeNull();
});

test('removes an erased user from all audiences and timers', async () => {
  await write({
    joined: [
      { ...keyOf(a, 'u1'), since: now() },
      { ...keyOf(a, 'u2'), since: now() },
      { ...keyOf(b, 'u1'), since: now() },
    ],
    newTimers: [{ ...keyOf(a, 'u1'), at: now() }],
  });
  const erase = () =>
    db.transaction((tx) => eraseMemberships(tx, { projectId: a.projectId, userId: 'u1', now: now() }));
  expect(await erase()).toEqual({ members: 1, timers: 1 });
  expect(await erase()).toEqual({ members: 0, timers: 0 });
  expect([await counted(a), await counted(b)]).toEqual([
    { members: 1, rows: 1 },
    { members: 1, rows: 1 },
  ]);
});

test('turns results into the writes that they need, and no others', () => {
  const writes = noWrites();
  const evaluation = (versionId: number, more: Partial<MembershipEvaluation>): MembershipEvaluation =>
    ({ version: { versionId }, move: 'none', timer: 'keep', dueAt: null, ...more }) as MembershipEvaluation;
  addEvaluations(writes, {
    projectId: 1,
    userId: 'u1',
    since: now(),
    evaluations: [
      evaluation(1, { move: 'joined', timer: 'set', dueAt: clock.now() }),
      evaluation(2, { move: 'left', timer: 'remove' }),
      evaluation(3, { dueAt: clock.now() }),
    ],
  });
  const row = (versionId: number) => ({ projectId: 1, userId: 'u1', versionId });
  expect(writes).toEqual({
    joined: [{ ...row(1), since: now() }],
    left: [row(2)],
    newTimers: [{ ...row(1), at: now() }],
    staleTimers: [row(2)],
  });
});
