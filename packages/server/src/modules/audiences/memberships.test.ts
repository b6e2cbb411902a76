import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../../testkit/clock.ts';
import { openTestDatabase } from '../../../testkit/database.ts';
import { createAudience } from './change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import type { Tx } from '../../platform/db/statements.ts';
import {
  addVerdicts,
  eraseStandings,
  findStandings,
  listDueNow,
  nextDueAt,
  noWrites,
  type StandingWrites,
  writeStandings,
} from './memberships.ts';
import { listBuilding, serveEdition } from './build-version.ts';
import type { MembershipEvaluation } from './evaluate-membership.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);

const now = (): Date => new Date(clock.now());
const minutes = (n: number): Date => new Date(clock.now() + n * 60_000);

type World = { projectId: number; audienceId: string; edition: number };
async function world(served = true): Promise<World> {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const definition = { trait: 'plan', equals: 'pro' };
  const { id: audienceId } = await createAudience(
    { db, listRuleNeeds },
    { projectId, name: 'Pro', definition },
  );
  const [building] = (await listBuilding(db, 1_000)).filter((one) => one.projectId === projectId);
  const edition = building?.edition ?? 0;
  if (served) await db.transaction((tx) => serveEdition(tx, { projectId, edition, now: now() }));
  return { projectId, audienceId, edition };
}

let a: World;
let b: World;
beforeEach(async () => {
  a = await world();
  b = await world();
});

const place = ({ projectId, edition }: World, userId: string) => ({ projectId, userId, edition });
const write = (writes: Partial<StandingWrites>): Promise<void> =>
  db.transaction((tx) => writeStandings(tx, { ...noWrites(), ...writes }, now()));

async function counted({ projectId, edition }: World): Promise<{ members: number; rows: number }> {
  const [row] = await db.query<{ members: number; rows: number }>(
    `SELECT members, (SELECT count(*) FROM beckon.audience_member m WHERE m.project_id = e.project_id AND m.edition = e.edition) AS rows
     FROM beckon.audience_edition e WHERE project_id = $1 AND edition = $2`,
    [projectId, edition],
  );
  return row ?? { members: -1, rows: -1 };
}

const days = ({ projectId }: World) =>
  db.query(
    `SELECT day::text AS day, joined, departed, members FROM beckon.audience_day WHERE project_id = $1 ORDER BY day`,
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
      { ...place(b, 'same'), since },
      { ...place(a, 'same'), since: now() },
      { ...place(a, 'u😀'), since },
    ],
    due: [
      { ...place(b, 'same'), at: minutes(3) },
      { ...place(a, 'none'), at: minutes(4) },
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
  const standings = await findStandings(tx, people);
  expect(sent).toHaveLength(1);
  expect(standings).toEqual([
    { members: new Map([[a.edition, since]]), dues: new Map() },
    { members: new Map([[b.edition, since]]), dues: new Map([[b.edition, minutes(3).getTime()]]) },
    { members: new Map(), dues: new Map() },
    { members: new Map(), dues: new Map([[a.edition, minutes(4).getTime()]]) },
    { members: new Map([[a.edition, now()]]), dues: new Map() },
  ]);
  expect((await findStandings(db, people, { dues: false })).map(({ dues }) => dues.size)).toEqual([
    0, 0, 0, 0, 0,
  ]);
  expect([await nextDueAt(db, a.projectId), await nextDueAt(db, b.projectId)]).toEqual([
    minutes(4),
    minutes(3),
  ]);
});

test('sends no query for an empty input, and otherwise one statement per kind', async () => {
  const nothing = counting();
  await writeStandings(nothing.tx, noWrites(), now());
  expect(await findStandings(nothing.tx, [])).toEqual([]);
  expect(nothing.sent).toEqual([]);
  const all = counting();
  const people = Array.from({ length: 50 }, (_, i) => place(i % 2 ? a : b, `u${i}`));
  await writeStandings(
    all.tx,
    {
      joined: people.map((one) => ({ ...one, since: now() })),
      left: people.map((one) => ({ ...one, userId: `gone_${one.userId}` })),
      due: people.map((one) => ({ ...one, at: now() })),
      notDue: people.map((one) => ({ ...one, userId: `gone_${one.userId}` })),
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
          joined: joined.map((n) => ({ ...place(at, `u${n}`), since: now() })),
          left: going.map((n) => place(at, `u${n}`)),
        });
        if (erase !== null)
          await db.transaction((tx) =>
            eraseStandings(tx, { projectId: at.projectId, userId: `u${erase}`, now: now() }),
          );
      }
      for (const one of worlds) {
        const { members, rows } = await counted(one);
        expect(members).toBe(rows);
      }
      const [served, building] = worlds as [World, World];
      const [day] = (await days(served)) as { joined: number; departed: number; members: number }[];
      expect(day?.members).toBe((await counted(served)).members);
      expect((day?.joined ?? 0) - (day?.departed ?? 0)).toBe(day?.members);
      // An edition that is not served yet has no growth.
      expect(await days(building)).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test('does not count a second join, nor a departure of a user who was not a member', async () => {
  const joined = [{ ...place(a, 'u1'), since: now() }];
  await write({ joined });
  await write({ joined, left: [place(a, 'u2')] });
  expect(await counted(a)).toEqual({ members: 1, rows: 1 });
  expect(await days(a)).toEqual([{ day: '2026-01-15', joined: 1, departed: 0, members: 1 }]);
});

test('counts days in UTC, each with the members at its end', async () => {
  await write({ joined: ['u1', 'u2'].map((id) => ({ ...place(a, id), since: now() })) });
  clock.advance(12 * 3_600_000);
  await write({ left: [place(a, 'u1')], joined: [{ ...place(a, 'u3'), since: now() }] });
  await write({ left: [place(a, 'u3')] });
  expect(await days(a)).toEqual([
    { day: '2026-01-15', joined: 2, departed: 0, members: 2 },
    { day: '2026-01-16', joined: 1, departed: 2, members: 1 },
  ]);
});

test('moves a timer, removes it when nothing is due, and lists the longest overdue first', async () => {
  await write({ due: ['u1', 'u2', 'u3'].map((id, i) => ({ ...place(a, id), at: minutes(-i) })) });
  await write({ due: [{ ...place(a, 'u3'), at: minutes(5) }], notDue: [place(a, 'u1')] });
  await write({ due: [{ ...place(a, 'u4'), at: minutes(-9) }] });
  expect(await listDueNow(db, { projectId: a.projectId, now: now(), limit: 10 })).toEqual([
    { userId: 'u4', edition: a.edition, at: minutes(-9) },
    { userId: 'u2', edition: a.edition, at: minutes(-1) },
  ]);
  expect(await listDueNow(db, { projectId: a.projectId, now: now(), limit: 1 })).toHaveLength(1);
  expect(await nextDueAt(db, b.projectId)).toBeNull();
});

test('removes an erased user from all audiences and timers', async () => {
  await write({
    joined: [
      { ...place(a, 'u1'), since: now() },
      { ...place(a, 'u2'), since: now() },
      { ...place(b, 'u1'), since: now() },
    ],
    due: [{ ...place(a, 'u1'), at: now() }],
  });
  const erase = () =>
    db.transaction((tx) => eraseStandings(tx, { projectId: a.projectId, userId: 'u1', now: now() }));
  expect(await erase()).toEqual({ members: 1, dues: 1 });
  expect(await erase()).toEqual({ members: 0, dues: 0 });
  expect([await counted(a), await counted(b)]).toEqual([
    { members: 1, rows: 1 },
    { members: 1, rows: 1 },
  ]);
});

test('turns results into the writes that they need, and no others', () => {
  const writes = noWrites();
  const verdict = (edition: number, more: Partial<MembershipEvaluation>): MembershipEvaluation =>
    ({ edition: { edition }, move: 'none', due: 'keep', dueAt: null, ...more }) as MembershipEvaluation;
  addVerdicts(writes, {
    projectId: 1,
    userId: 'u1',
    since: now(),
    verdicts: [
      verdict(1, { move: 'joined', due: 'set', dueAt: clock.now() }),
      verdict(2, { move: 'left', due: 'remove' }),
      verdict(3, { dueAt: clock.now() }),
    ],
  });
  const of = (edition: number) => ({ projectId: 1, userId: 'u1', edition });
  expect(writes).toEqual({
    joined: [{ ...of(1), since: now() }],
    left: [of(2)],
    due: [{ ...of(1), at: now() }],
    notDue: [of(2)],
  });
});
