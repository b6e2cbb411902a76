import { afterAll, beforeEach, expect, test } from 'vitest';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testDatabase } from '../../../testing/factories/database.ts';
import { type Put, putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { silentLog } from '../../platform/log.ts';
import { listDead, retryDead } from '../ingest/queue/dead-letters.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { createAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { erasePerson } from '../profiles/erase-user.ts';
import { deadLetterRejected } from './dead-letter.ts';
import { createProcessor } from './process.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const database = await testDatabase();
const clock = fixedClock();
const db = await openDatabase({ connection: database.connection, clock, log: silentLog });
const other = await openDatabase({ connection: database.connection, clock, log: silentLog });
const processor = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
afterAll(async () => {
  await Promise.all([db.close(), other.close()]);
  await database.drop();
});
let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  clock.advance(1_000);
});

const put = (kind: Put['kind'], records: object[], priority: Put['priority'] = 'live'): Promise<number> =>
  putRecords(db, { projectId, kind, records, priority });
const event = (userId: string, more: object = {}): object => ({
  external_user_id: userId,
  name: 'login',
  properties: {},
  ...more,
});

async function processAll(priorities: ('live' | 'bulk')[] = ['live', 'bulk']): Promise<number> {
  let records = 0;
  // Later changes get a later time.
  clock.advance(1);
  for (const priority of priorities) {
    for (
      let batch = await processor.batch(priority, [projectId]);
      batch.records > 0;
      batch = await processor.batch(priority, [projectId])
    )
      records += batch.records;
  }
  return records;
}

const people = (): Promise<{ traits: object }[]> =>
  db.query(
    `SELECT p.external_user_id, name, plan, signup_date, company, role, traits, email FROM beckon.person p
     LEFT JOIN beckon.person_email e USING (project_id, external_user_id) WHERE p.project_id = $1 ORDER BY 1`,
    [projectId],
  );
const events = (): Promise<object[]> =>
  db.query(
    `SELECT external_user_id, name, properties, occurred_at, accepted_at FROM beckon.event WHERE project_id = $1 ORDER BY seq`,
    [projectId],
  );
const changes = (): Promise<{ kind: string; external_user_id: string | null; detail: object }[]> =>
  db.query(
    `SELECT kind, external_user_id, detail FROM beckon.activity WHERE project_id = $1 ORDER BY at, id`,
    [projectId],
  );
const waiting = async (): Promise<number | undefined> =>
  (
    await db.query<{ waiting: number }>(
      `SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1`,
      [projectId],
    )
  )[0]?.waiting;

test('turns accepted users and events into users and events exactly once', async () => {
  await put('users', [{ external_user_id: 'u1', email: 'a@x.org', traits: { plan: 'pro', seats: 3 } }]);
  await put('events', [event('u2', { properties: { a: 1 } })]);
  expect(await processor.batch('live', [projectId])).toMatchObject({ records: 2, events: 1, projects: 1 });
  expect(await people()).toMatchObject([
    { external_user_id: 'u1', plan: 'pro', traits: { seats: 3 }, email: 'a@x.org' },
    { external_user_id: 'u2', plan: null, traits: {}, email: null },
  ]);
  expect(await events()).toMatchObject([{ external_user_id: 'u2', name: 'login', properties: { a: 1 } }]);
  expect(await waiting()).toBe(0);
  expect(await processor.batch('live', [projectId])).toMatchObject({ records: 0 });
});

test('stores known traits in columns if they have the right type, and all others as JSON', async () => {
  const traits = {
    name: 'Ada',
    plan: { id: 7 },
    signupDate: 'yesterday',
    company: 'Acme',
    role: null,
    __proto__x: 1,
  };
  await put('users', [{ external_user_id: 'u1', traits }]);
  const { warnings } = await processor.batch('live', [projectId]);
  expect(warnings.map(({ code }) => code).toSorted()).toEqual([
    'trait_plan_not_text',
    'trait_signupDate_not_text',
  ]);
  expect(await people()).toMatchObject([
    {
      name: 'Ada',
      plan: null,
      signup_date: null,
      company: 'Acme',
      traits: { plan: { id: 7 }, signupDate: 'yesterday' },
    },
  ]);
  await put('users', [
    { external_user_id: 'u1', traits: { plan: 'pro', signupDate: '2026-01-02', company: null } },
  ]);
  await processAll();
  expect(await people()).toMatchObject([
    { plan: 'pro', signup_date: '2026-01-02', company: null, traits: { __proto__x: 1 } },
  ]);
});

test('warns about an invalid time zone each time it is sent, unless the trait is not used', async () => {
  const warned = async (traits: object) => {
    await put('users', [{ external_user_id: 'u1', traits }]);
    return (await processor.batch('live', [projectId])).warnings;
  };
  const warning = [{ projectId, code: 'invalid_time_zone' }];
  for (const traits of [{ timezone: 'Mars/Olympus' }, { timezone: '+02:00' }, { timezone: 7 }])
    expect(await warned(traits)).toEqual(warning);
  expect(await warned({ plan: 'pro' })).toEqual([]);
  expect(await warned({ time_zone: 'Europe/Paris' })).toEqual(warning);
  expect(await warned({ timezone: 'Europe/Paris', time_zone: 'PST' })).toEqual([]);
  for (const traits of [{ timezone: null, time_zone: null }, { timezone: '' }])
    expect(await warned(traits)).toEqual([]);
});

test('warns about an invalid `locale` trait each time it is sent', async () => {
  const warned = async (traits: object) => {
    await put('users', [{ external_user_id: 'u1', traits }]);
    return (await processor.batch('live', [projectId])).warnings;
  };
  const warning = [{ projectId, code: 'invalid_locale' }];
  for (const locale of ['xx', 'German', 7]) expect(await warned({ locale })).toEqual(warning);
  expect(await warned({ plan: 'pro' })).toEqual([]);
  for (const locale of ['de_DE', 'pt-BR', '', null]) expect(await warned({ locale })).toEqual([]);
});

test("limits the size of a user's traits, and keeps any single record whole", async () => {
  const traits = (n: number) => Object.fromEntries([0, 1, 2].map((m) => [`t${n} ${m}`, 'é'.repeat(10_000)]));
  const records = Array.from({ length: 100 }, (_, n) => ({ external_user_id: 'u1', traits: traits(n) }));
  await put('users', records);
  const warnings = [];
  for (let processed = 0; processed < 100;) {
    const result = await processor.batch('live', [projectId]);
    warnings.push(...result.warnings);
    processed += result.records;
  }
  expect(warnings[0]).toEqual({ projectId, code: 'traits_too_long' });
  const traitKeys = async () => Object.keys((await people())[0]?.traits ?? {});
  expect(await traitKeys()).toHaveLength(13);
  expect(await traitKeys()).toEqual(expect.arrayContaining([0, 1, 2].map((m) => `t0 ${m}`)));

  // Existing traits can be changed, and a removed trait frees space.
  const more = { 't0 0': 'x'.repeat(10_000), 't0 1': null, 't0 2': 'y'.repeat(20_000), new: 1 };
  await put('users', [{ external_user_id: 'u1', traits: more }]);
  expect((await processor.batch('live', [projectId])).warnings).toEqual([]);
  expect((await people())[0]?.traits).toMatchObject({
    't0 0': more['t0 0'],
    't0 2': more['t0 2'],
    new: 1,
  });
});

test('reports a live change with the old values, without the address', async () => {
  await put('users', [{ external_user_id: 'u1', email: 'a@x.org', traits: { plan: 'free', seats: 1 } }]);
  await processAll();
  await put('users', [
    { external_user_id: 'u1', email: 'b@x.org', traits: { plan: 'pro', seats: 1, extra: null } },
  ]);
  await processAll();
  expect(await changes()).toMatchObject([
    {
      kind: 'user_created',
      detail: { traits: { plan: [null, 'free'], seats: [null, 1] }, email: 'changed' },
    },
    {
      kind: 'user_changed',
      external_user_id: 'u1',
      detail: { traits: { plan: ['free', 'pro'] }, email: 'changed' },
    },
  ]);
  expect(JSON.stringify(await changes())).not.toContain('x.org');
});

test('changes nothing, in any table or the change stream, when the same data is imported again', async () => {
  const users = Array.from({ length: 100 }, (_, i) => ({
    external_user_id: `u${i}`,
    email: `u${i}@x.org`,
    traits: { plan: 'pro', deep: { b: 1, a: [1, { z: 0, y: null }] }, n: i / 3 },
  }));
  const history = Array.from({ length: 100 }, (_, i) =>
    event(`u${i}`, i % 2 === 0 ? { occurred_at: '2025-06-01T00:00:00.000Z' } : { properties: { i } }),
  );
  const tables = async (): Promise<object> => {
    const rows: Record<string, object[]> = {};
    for (const table of [
      'person',
      'person_email',
      'event',
      'event_dedupe',
      'event_volume',
      'event_property',
      'activity',
    ])
      rows[table] = await db.query(
        `SELECT t.*, t.xmin::text AS written FROM beckon.${table} t WHERE project_id = $1 ORDER BY t::text`,
        [projectId],
      );
    return rows;
  };
  const importAll = async (): Promise<object> => {
    await put('users', users, 'bulk');
    await put('events', history, 'bulk');
    clock.advance(3 * 3_600_000);
    expect(await processAll()).toBe(200);
    return tables();
  };
  const first = await importAll();
  expect(await changes()).toMatchObject([
    { kind: 'bulk_change', detail: { users_created: 100, events: 100 } },
  ]);
  expect(await importAll()).toEqual(first);
  expect(await importAll()).toEqual(first);
});

test('deduplicates events by message id, by time and content, and in bulk by content alone', async () => {
  await put('events', [event('u1', { message_id: 'm1' }), event('u2', { message_id: 'm1' })]);
  await put('events', [event('u1', { occurred_at: '2026-01-01T00:00:00.000Z', properties: { a: 1, b: 2 } })]);
  await put(
    'events',
    [event('u1', { occurred_at: '2026-01-01T00:00:00.000Z', properties: { b: 2, a: 1 } })],
    'bulk',
  );
  await put('events', [event('u1'), event('u1')]);
  await put('events', [event('u1', { properties: { x: 1 } }), event('u1', { properties: { x: 1 } })], 'bulk');
  await processAll();
  expect((await events()).length).toBe(1 + 1 + 2 + 1);
  expect((await people()).length).toBe(1);
});

test('dates an event from the future at its acceptance', async () => {
  const at = new Date(clock.now());
  await put('events', [event('u1', { occurred_at: new Date(clock.now() + 1_800_000).toISOString() })]);
  await put('events', [event('u1', { occurred_at: '2020-02-29T00:00:00.000Z' })]);
  await processAll();
  expect(await events()).toMatchObject([{ occurred_at: at }, { occurred_at: new Date('2020-02-29') }]);
});

test('dead-letters only the record that the database rejects, with the reason; it can be retried', async () => {
  const records = Array.from({ length: 40 }, (_, i) =>
    event(`u${i}`, { properties: { text: i === 17 ? '\u0000' : 'fine' } }),
  );
  await put('events', records, 'bulk');
  expect(await processAll()).toBe(40);
  expect((await events()).length).toBe(39);
  expect(await waiting()).toBe(0);
  const dead = await listDead(db, projectId);
  expect(dead).toMatchObject([{ kind: 'events', priority: 'bulk', record: { external_user_id: 'u17' } }]);
  expect(dead[0]?.reason).toMatch(/Unicode/);
  expect(await retryDead(db, projectId)).toEqual({ retried: 1 });
  expect(await processAll()).toBe(1);
  expect((await events()).length).toBe(40);
});

test('changes nothing in a batch of projects with a rejected record; one by one, the other projects lose nothing', async () => {
  const second = (await createProject(db, { name: 'Other' })).id;
  await put('events', [event('u1', { properties: { text: '\u0000' } }), event('u2')]);
  await putRecords(db, { projectId: second, kind: 'events', records: [event('u1')] });
  await expect(processor.batch('live', [projectId, second])).rejects.toThrow(/Unicode/);
  for (const id of [projectId, second, projectId, projectId]) await processor.batch('live', [id]);
  expect((await events()).length).toBe(1);
  expect((await listDead(db, projectId)).length).toBe(1);
  expect(
    await db.query(`SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1`, [second]),
  ).toEqual([{ waiting: 0 }]);
});

test('reports the first rejection, however many statements were sent behind it', async () => {
  await createAudience(
    { db, listRuleNeeds },
    {
      projectId,
      name: 'Seen',
      definition: { event: 'login', at_least: 2, within: '7d' },
    },
  );
  await createAudience(
    { db, listRuleNeeds },
    { projectId, name: 'Pro', definition: { not: { trait: 'plan', equals: 'pro' } } },
  );
  for (let i = 0; i < 20; i += 1) {
    // A new processor has statements that no connection has prepared yet, and they are sent in a different way from prepared ones.
    const fresh =
      i % 2 === 0
        ? createProcessor({ db: other, log: silentLog, newId: idMaker(db.clock), hasher: testHasher })
        : processor;
    const bad =
      i % 3 === 0
        ? { external_user_id: `u${i}`, traits: { text: '\u0000' } }
        : event(`u${i}`, { properties: { text: '\u0000' } });
    await put(i % 3 === 0 ? 'users' : 'events', [bad]);
    await put('events', [event('fine')]);
    while ((await fresh.batch('live', [projectId])).records > 0);
  }
  expect((await events()).length).toBe(20);
  expect(new Set((await listDead(db, projectId)).map(({ reason }) => /Unicode/.test(reason)))).toEqual(
    new Set([true]),
  );
  expect((await listDead(db, projectId)).length).toBe(20);
});

test('dead-letters only the rejected record, whatever happened since then', async () => {
  await put('events', [event('bad', { properties: { text: '\u0000' } }), event('good'), event('good')]);
  const seq =
    (
      await db.query<{ seq: number }>(`SELECT seq FROM beckon.ingest_queue WHERE project_id = $1`, [
        projectId,
      ])
    )[0]?.seq ?? 0;
  const refused = { priority: 'live' as const, projectId, seq, error: new Error('refused') };
  await deadLetterRejected(db, refused, silentLog);
  // Another worker gets the same rejection and comes later.
  expect((await deadLetterRejected(other, refused, silentLog)).records).toBe(0);
  expect((await listDead(db, projectId)).map((dead) => dead.seq)).toEqual([seq]);
  await processAll();
  expect((await events()).length).toBe(2);
});

test('keeps no dead letter for a user who was erased after the rejection', async () => {
  await put('events', [event('bad', { properties: { text: '\u0000' } })]);
  await put('events', [event('good')]);
  const seq =
    (
      await db.query<{ seq: number }>(
        `SELECT min(seq) AS seq FROM beckon.ingest_queue WHERE project_id = $1`,
        [projectId],
      )
    )[0]?.seq ?? 0;
  await erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId: 'bad' });
  await deadLetterRejected(db, { priority: 'live', projectId, seq, error: new Error('refused') }, silentLog);
  expect(await listDead(db, projectId)).toEqual([]);
  expect(await waiting()).toBe(1);
});

test('dead-letters no record if a month has no partition, and creates the partition', async () => {
  await put('events', [event('u1')]);
  await processAll();
  const month = new Date(clock.now()).toISOString().slice(0, 7).replace('-', '_');
  await db.query(`ALTER TABLE beckon.event DETACH PARTITION beckon.event_${month}`);
  await db.query(`DROP TABLE beckon.event_${month}`);
  await put('events', [event('u2')]);
  await expect(processor.batch('live', [projectId])).rejects.toThrow(/partition/);
  expect(await processAll()).toBe(1);
  expect(await listDead(db, projectId)).toEqual([]);
  expect((await events()).length).toBe(1);
});

test('stops after 100 rejected records in a row instead of dead-lettering all', async () => {
  const records = Array.from({ length: 120 }, (_, i) => event(`u${i}`, { properties: { text: '\u0000' } }));
  await put('events', records);
  await expect(processAll()).rejects.toThrow(/100 records in a row/);
  expect((await listDead(db, projectId)).length).toBe(100);
  expect(await waiting()).toBe(20);
});

test('keeps the first properties of an event name, and ignores thousands of others in the catalog', async () => {
  const many = (from: number): object =>
    event('u1', {
      properties: Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`p${from + i}`, 1])),
    });
  for (let batch = 0; batch < 2; batch += 1) {
    await put(
      'events',
      Array.from({ length: 10 }, (_, i) => many((batch * 10 + i) * 250)),
    );
    await processAll();
  }
  await put('events', [event('u1', { properties: { p1: 2, p4999: 2 } })]);
  await processAll();
  const [kept] = await db.query<{ properties: number }>(
    `SELECT count(*) AS properties FROM beckon.event_property WHERE project_id = $1`,
    [projectId],
  );
  expect(kept?.properties).toBe(500);
});

test('processes a chunk larger than a batch in parts, and each record once', async () => {
  const text = 'x'.repeat(60_000);
  const records = Array.from({ length: 150 }, (_, i) => event(`u${i}`, { properties: { text } }));
  await put('events', records);
  const first = await processor.batch('live', [projectId]);
  expect(first.records).toBeGreaterThan(1);
  expect(first.records).toBeLessThan(150);
  expect(await waiting()).toBe(150 - first.records);
  expect(first.records + (await processAll())).toBe(150);
  expect((await events()).length).toBe(150);
});

test('never processes one project in two workers at once, and processes each record once', async () => {
  const second = createProcessor({ db: other, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
  for (let i = 0; i < 30; i += 1) await put('events', [event(`u${i}`), event('shared')]);
  const counts = await Promise.all(
    [processor, second].map(async (each) => {
      let records = 0;
      for (let round = 0; round < 30; round += 1) records += (await each.batch('live', [projectId])).records;
      return records;
    }),
  );
  expect(counts.reduce((a, b) => a + b)).toBe(60);
  expect((await events()).length).toBe(60);
});

test('counts events in the catalog, and records every property with its types', async () => {
  await put('events', [
    event('u1', { properties: { a: 1 } }),
    event('u2', { properties: { a: 'one', b: null } }),
  ]);
  await processAll();
  await put('events', [event('u1', { properties: { a: 2 } })]);
  await processAll();
  expect(
    await db.query(`SELECT name, count FROM beckon.event_volume WHERE project_id = $1`, [projectId]),
  ).toEqual([{ name: 'login', count: 3 }]);
  expect(
    await db.query(`SELECT property, type FROM beckon.event_property WHERE project_id = $1 ORDER BY 1, 2`, [
      projectId,
    ]),
  ).toEqual([
    { property: 'a', type: 'number' },
    { property: 'a', type: 'string' },
    { property: 'b', type: 'null' },
  ]);
});

test('changes nothing if the database fails', async () => {
  await put('events', [event('u1')]);
  await db.query(`ALTER TABLE beckon.activity RENAME TO activity_away`);
  await expect(processor.batch('live', [projectId])).rejects.toThrow(/activity/);
  await db.query(`ALTER TABLE beckon.activity_away RENAME TO activity`);
  expect(await waiting()).toBe(1);
  expect(await people()).toEqual([]);
  expect(await processAll()).toBe(1);
  expect((await events()).length).toBe(1);
});
