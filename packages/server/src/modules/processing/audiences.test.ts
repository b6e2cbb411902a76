import { beforeEach, expect, test } from 'vitest';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { silentLog } from '../../platform/log.ts';
import { listAudiences } from '../audiences/show-audiences.ts';
import { listBuilding } from '../audiences/build-version.ts';
import { listDueProjects } from '../../platform/locks/timers.ts';
import { createAudience, editAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { createProcessor } from './process.ts';
import { testAudience } from './test-audience-routes.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const DAY = 86_400_000;
const clock = fixedClock();
const db = await openTestDatabase(clock);
const processor = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
let projectId = 0;
beforeEach(async () => {
  clock.advance(1_000);
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

const user = (id: string, traits: object = {}): object => ({ external_user_id: id, traits });
const event = (id: string, name = 'login', more: object = {}): object => ({
  external_user_id: id,
  name,
  properties: {},
  ...more,
});
async function live(kind: 'users' | 'events', records: object[]): Promise<void> {
  clock.advance(1);
  await putRecords(db, { projectId, kind, records });
  await processor.batch('live', [projectId]);
}

/** Builds as the worker does, until no build of this project is left. */
async function build(): Promise<void> {
  for (;;) {
    const mine = (await listBuilding(db, 1_000)).filter((key) => key.projectId === projectId);
    if (mine.length === 0) return;
    for (const key of mine) await processor.build(key);
  }
}

async function audience(name: string, definition: object): Promise<string> {
  const { id } = await createAudience({ db, listRuleNeeds }, { projectId, name, definition });
  await build();
  return id;
}

async function members(name: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `SELECT m.external_user_id AS id FROM beckon.audience a
     JOIN beckon.audience_version e ON e.project_id = a.project_id AND e.audience_id = a.id AND e.state = 'served'
     JOIN beckon.audience_member m ON m.project_id = e.project_id AND m.version_id = e.version_id
     WHERE a.project_id = $1 AND a.name = $2 ORDER BY 1`,
    [projectId, name],
  );
  const [listed] = (await listAudiences(db, projectId)).filter((audience) => audience.name === name);
  expect(listed?.members).toBe(rows.length);
  return rows.map(({ id }) => id);
}

const moves = async (): Promise<string[]> =>
  (
    await db.query<{ move: string }>(
      `SELECT c.kind || ' ' || a.name || ' ' || c.external_user_id || ' ' || (c.detail ->> 'by') AS move FROM beckon.activity c
       JOIN beckon.audience a ON a.project_id = c.project_id AND a.id = c.audience_id
       WHERE c.project_id = $1 AND c.kind IN ('audience_joined', 'audience_left') ORDER BY c.at, c.id`,
      [projectId],
    )
  ).map(({ move }) => move);

/** Processes everything that is due now, and returns the next due time. */
async function time(): Promise<number | null> {
  const now = new Date(clock.now());
  while (
    (await listDueProjects(db, { work: 'process', now, limit: 10_000 })).some(
      (project) => project.projectId === projectId,
    )
  )
    await processor.timers(projectId);
  const [next] = await db.query<{ next_at: Date | null }>(
    `SELECT next_at FROM beckon.project_timer WHERE project_id = $1 AND work = 'process'`,
    [projectId],
  );
  return next?.next_at?.getTime() ?? null;
}

test('moves users into and out of audiences by their traits and events, and reports each move', async () => {
  await audience('Pro', { trait: 'plan', equals: 'pro' });
  await audience('Active', { event: 'login', at_least: 2, within: '7d' });
  await audience('Quiet pro', { all: [{ trait: 'plan', equals: 'pro' }, { not: { event: 'login' } }] });
  await live('users', [user('ada', { plan: 'pro' }), user('bob', { plan: 'free' })]);
  expect(await members('Pro')).toEqual(['ada']);
  expect(await members('Quiet pro')).toEqual(['ada']);
  await live('events', [event('ada'), event('bob')]);
  await live('events', [event('bob')]);
  expect(await members('Active')).toEqual(['bob']);
  expect(await members('Quiet pro')).toEqual([]);
  await live('users', [user('ada', { plan: null })]);
  expect(await members('Pro')).toEqual([]);
  expect((await moves()).toSorted()).toEqual([
    'audience_joined Active bob live',
    'audience_joined Pro ada live',
    'audience_joined Quiet pro ada live',
    'audience_left Pro ada live',
    'audience_left Quiet pro ada live',
  ]);
});

test('adds a new user to audiences of inactive users with their first record', async () => {
  await audience('Idle', { not: { event: 'export', within: '7d' } });
  await audience('No plan', { not: { trait: 'plan', is_set: true } });
  await live('events', [event('ada', 'export'), event('bob', 'login')]);
  expect(await members('Idle')).toEqual(['bob']);
  expect(await members('No plan')).toEqual(['ada', 'bob']);
});

test('moves users by time alone exactly at the due time, to the millisecond', async () => {
  await audience('Idle', { not: { event: 'login', within: '7d' } });
  await live('events', [event('ada')]);
  const at = clock.now();
  expect(await members('Idle')).toEqual([]);
  expect(await time()).toBe(at + 7 * DAY);
  clock.advance(7 * DAY - 1);
  await time();
  expect(await members('Idle')).toEqual([]);
  clock.advance(1);
  expect(await time()).toBeNull();
  expect(await members('Idle')).toEqual(['ada']);
  expect(await moves()).toEqual(['audience_joined Idle ada time']);
});

test('keeps a due time that new events postpone, without a write per event', async () => {
  await audience('Idle', { not: { event: 'login', within: '7d' } });
  await live('events', [event('ada')]);
  const first = clock.now();
  clock.advance(3 * DAY);
  await live('events', [event('ada')]);
  const second = clock.now();
  expect(await time()).toBe(first + 7 * DAY);
  clock.advance(first + 7 * DAY - clock.now());
  expect(await time()).toBe(second + 7 * DAY);
  expect(await members('Idle')).toEqual([]);
  clock.advance(second + 7 * DAY - clock.now());
  await time();
  expect(await members('Idle')).toEqual(['ada']);
});

test('evaluates a date trait exactly in both directions, and a dependent audience follows', async () => {
  await audience('Renewing', { trait: 'renewsAt', in_next: '7d' });
  const renewing = (await listAudiences(db, projectId))[0]?.id ?? '';
  await audience('Renewing pro', { all: [{ audience: renewing }, { trait: 'plan', equals: 'pro' }] });
  const renewsAt = clock.now() + 10 * DAY;
  await live('users', [user('ada', { plan: 'pro', renewsAt: new Date(renewsAt).toISOString() })]);
  expect(await time()).toBe(renewsAt - 7 * DAY);
  clock.advance(renewsAt - 7 * DAY - clock.now());
  expect(await time()).toBe(renewsAt);
  expect(await members('Renewing pro')).toEqual(['ada']);
  clock.advance(7 * DAY);
  expect(await time()).toBeNull();
  expect(await members('Renewing')).toEqual([]);
  expect(await members('Renewing pro')).toEqual([]);
});

test('counts events from before the definition, and evaluates users who arrive during the build', async () => {
  const old = Array.from({ length: 1_200 }, (_, i) =>
    event(`u${String(i).padStart(4, '0')}`, 'export', { occurred_at: '2025-12-01T00:00:00.000Z' }),
  );
  await putRecords(db, { projectId, priority: 'bulk', kind: 'events', records: old.slice(0, 1_000) });
  await putRecords(db, { projectId, priority: 'bulk', kind: 'events', records: old.slice(1_000) });
  while ((await processor.batch('bulk', [projectId])).records > 0);
  await createAudience(
    { db, listRuleNeeds },
    { projectId, name: 'Twice', definition: { event: 'export', at_least: 2 } },
  );
  const version = (await listBuilding(db, 1_000)).find((key) => key.projectId === projectId);
  if (!version) throw new Error('nothing is built');
  // Users before, at and behind the progress of counting and evaluating, at every step of both.
  for (let step = 0; (await processor.build(version)) === 'went on'; step += 1) {
    expect(step).toBeLessThan(20);
    await live('events', [
      event('u0001', 'export'),
      event('u0600', 'export'),
      event('u1150', 'export'),
      event(`new${step}`, 'export'),
    ]);
  }
  expect(await members('Twice')).toEqual(['u0001', 'u0600', 'u1150']);
  const counts = await db.query<{ count: number }>(
    `SELECT count FROM beckon.person_event WHERE project_id = $1 AND external_user_id IN ('u0001', 'u0600', 'u1150')`,
    [projectId],
  );
  const [truth] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM beckon.event WHERE project_id = $1 AND external_user_id = 'u0600'`,
    [projectId],
  );
  expect(new Set(counts.map(({ count }) => count))).toEqual(new Set([truth?.count]));
  expect(await moves()).toEqual([]);
});

test('serves the old definition while an edit is built, and keeps the time since a user is a member', async () => {
  await audience('Pro', { trait: 'plan', equals: 'pro' });
  await live('users', [user('ada', { plan: 'pro' }), user('bob', { plan: 'team' })]);
  const since = async (): Promise<unknown> =>
    db.query(
      `SELECT DISTINCT external_user_id, since FROM beckon.audience_member WHERE project_id = $1 AND external_user_id = 'ada'`,
      [projectId],
    );
  const before = await since();
  clock.advance(DAY);
  await editAudience(
    { db, listRuleNeeds },
    {
      projectId,
      reference: 'Pro',
      definition: { trait: 'plan', one_of: ['pro', 'team'] },
    },
  );
  expect(await members('Pro')).toEqual(['ada']);
  await build();
  expect(await members('Pro')).toEqual(['ada', 'bob']);
  expect(await since()).toEqual(before);
  expect(await moves()).toEqual(['audience_joined Pro ada live']);
  expect(
    await db.query(`SELECT 1 FROM beckon.audience_version WHERE project_id = $1 AND built_to IS NOT NULL`, [
      projectId,
    ]),
  ).toEqual([]);
});

test('evaluates a dependent audience again when the referenced definition changes', async () => {
  const pro = await audience('Pro', { trait: 'plan', equals: 'pro' });
  await audience('Not pro', { not: { audience: pro } });
  await live('users', [user('ada', { plan: 'pro' }), user('bob', { plan: 'team' })]);
  expect(await members('Not pro')).toEqual(['bob']);
  await editAudience(
    { db, listRuleNeeds },
    { projectId, reference: 'Pro', definition: { trait: 'plan', equals: 'team' } },
  );
  await build();
  expect(await members('Not pro')).toEqual(['ada']);
  await live('users', [user('ada', { plan: 'team' })]);
  expect(await members('Not pro')).toEqual([]);
});

/** Runs all builds step by step in turn, with an action after each step. */
async function buildAmong(something: (step: number) => Promise<void>): Promise<void> {
  for (let step = 0; ; step += 1) {
    expect(step).toBeLessThan(100);
    const mine = (await listBuilding(db, 1_000)).filter((key) => key.projectId === projectId);
    if (mine.length === 0) return;
    for (const key of mine) {
      await processor.build(key);
      await something(step);
    }
  }
}

const PRO = { trait: 'plan', equals: 'pro' };
const TEAM = { trait: 'plan', equals: 'team' };
const ACTIVE = { event: 'login', within: '7d' };

test('keeps dependent audiences on the old definition until they are rebuilt, without join events for users added by the edit', async () => {
  const paying = await audience('Paying', PRO);
  await audience('Paying and active', { all: [{ audience: paying }, ACTIVE] });
  await audience('Others', { not: { audience: paying } });
  await live('users', [
    user('ada', { plan: 'team' }),
    user('bob', { plan: 'pro' }),
    user('eve', { plan: 'pro' }),
  ]);
  await live('events', [event('ada'), event('eve')]);
  expect(await members('Paying and active')).toEqual(['eve']);
  const moveCount = (await moves()).length;
  await editAudience(
    { db, listRuleNeeds },
    { projectId, reference: 'Paying', definition: { any: [PRO, TEAM] } },
  );
  await live('events', [event('ada')]);
  await buildAmong(async (step) => {
    await live('events', [event('ada')]);
    // A real join is reported.
    if (step === 0) await live('events', [event('bob')]);
  });
  await live('events', [event('ada'), event('bob'), event('eve')]);
  expect(await members('Paying')).toEqual(['ada', 'bob', 'eve']);
  expect(await members('Paying and active')).toEqual(['ada', 'bob', 'eve']);
  expect(await members('Others')).toEqual([]);
  expect((await moves()).slice(moveCount)).toEqual(['audience_joined Paying and active bob live']);
});

test('gives correct results for more users than a step takes, if a referenced audience is edited during a build', async () => {
  const ids = Array.from({ length: 1_100 }, (_, i) => `u${String(i).padStart(4, '0')}`);
  const users = ids.map((id, i) => user(id, { plan: ['pro', 'team', 'free'][i % 3], vip: i % 2 === 0 }));
  const paying = await audience('Paying', PRO);
  const best = await audience('Best', { audience: paying });
  await audience('Not the best', { not: { audience: best } });
  for (const batch of [users.slice(0, 1_000), users.slice(1_000)]) await live('users', batch);
  const moveCount = (await moves()).length;
  const edit = (reference: string, definition: object): Promise<unknown> =>
    editAudience({ db, listRuleNeeds }, { projectId, reference, definition });
  await edit('Best', { all: [{ audience: paying }, { trait: 'vip', equals: true }] });
  await buildAmong(async (step) => {
    if (step === 1) await edit('Paying', TEAM);
    await live('events', [event('u0001'), event('u0700'), event('u1099')]);
    await live('users', [user('u0002', { name: `n${clock.now()}` })]);
  });
  const those = (is: (i: number) => boolean): string[] => ids.filter((_, i) => is(i));
  expect(await members('Paying')).toEqual(those((i) => i % 3 === 1));
  expect(await members('Best')).toEqual(those((i) => i % 3 === 1 && i % 2 === 0));
  expect(await members('Not the best')).toEqual(those((i) => i % 3 !== 1 || i % 2 !== 0));
  expect((await moves()).slice(moveCount)).toEqual([]);
});

test('testAudience reports every condition for one user', async () => {
  await audience('Busy', {
    all: [
      { trait: 'plan', equals: 'pro' },
      { event: 'login', at_least: 2, within: '7d' },
    ],
  });
  await live('users', [user('ada', { plan: 'pro' })]);
  await live('events', [event('ada')]);
  const tested = await testAudience(db, { projectId, reference: 'Busy', userId: 'ada' });
  expect(tested).toMatchObject({
    isMember: false,
    explained: { holds: false, conditions: [{ holds: true }, { holds: false }] },
  });
  await expect(testAudience(db, { projectId, reference: 'Busy', userId: 'eve' })).rejects.toThrow(/eve/);
});

test('evaluates sums and property conditions correctly in set-wise queries', async () => {
  await audience('Spender', { event: 'paid', sum: 'amount', at_least: 10, within: '30d' });
  await audience('Exporter', {
    event: 'used',
    at_least: 2,
    within: '7d',
    where: [{ property: 'feature', equals: 'export' }],
  });
  await live('events', [
    event('ada', 'paid', { properties: { amount: 4 } }),
    event('ada', 'paid', { properties: { amount: 6.5 } }),
    event('bob', 'paid', { properties: { amount: '100' } }),
    event('bob', 'used', { properties: { feature: 'export' } }),
    event('bob', 'used', { properties: { feature: 'import' } }),
  ]);
  expect(await members('Spender')).toEqual(['ada']);
  expect(await members('Exporter')).toEqual([]);
  await live('events', [event('bob', 'used', { properties: { feature: 'export' } })]);
  expect(await members('Exporter')).toEqual(['bob']);
});

test('evaluates all users due at one time, even if they exceed a step and the referring audience comes first', async () => {
  await audience('Renewing', { trait: 'renewsAt', in_next: '7d' });
  const renewing = (await listAudiences(db, projectId))[0]?.id ?? '';
  await audience('Also renewing', { audience: renewing });
  const renewsAt = new Date(clock.now() + 10 * DAY).toISOString();
  await live(
    'users',
    Array.from({ length: 900 }, (_, i) => user(`u${i}`, { renewsAt })),
  );
  // As a rebuild would leave them: referring audiences first.
  await db.query(`DELETE FROM beckon.audience_timer WHERE project_id = $1`, [projectId]);
  const versions = await db.query<{ version_id: number }>(
    `SELECT version_id FROM beckon.audience_version WHERE project_id = $1 ORDER BY version_id DESC`,
    [projectId],
  );
  const at = new Date(Date.parse(renewsAt) - 7 * DAY);
  for (const { version_id: versionId } of versions)
    await db.query(
      `INSERT INTO beckon.audience_timer (project_id, external_user_id, version_id, at)
       SELECT $1::bigint, external_user_id, $2::bigint, $3::timestamptz FROM beckon.person WHERE project_id = $1`,
      [projectId, versionId, at],
    );
  clock.advance(at.getTime() - clock.now());
  await time();
  expect((await members('Renewing')).length).toBe(900);
  expect((await members('Also renewing')).length).toBe(900);
});

test('counts every event of a batch that is stored in several statements', async () => {
  const where = [{ property: 'kind', equals: 'report' }];
  await audience('Busy', { event: 'export', at_least: 12, within: '7d', where });
  const properties = { kind: 'report', text: 'x'.repeat(60_000) };
  await live(
    'events',
    Array.from({ length: 12 }, () => event('ada', 'export', { properties })),
  );
  expect(await members('Busy')).toEqual(['ada']);
});
