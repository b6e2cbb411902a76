import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Found, SearchResult } from '@beckon/contract/dashboard';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { createProject } from '../administration/create-project.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

let [projectId, other] = [0, 0];
beforeAll(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  other = (await createProject(db, { name: 'Other' })).id;
  for (const id of [projectId, other]) {
    const records = [
      { external_user_id: 'user_1026', email: 'Omar@example.com', traits: { name: 'Omar Haddad' } },
      { external_user_id: 'user_1027', email: 'oma@example.com', traits: { name: 'Ömer Öz' } },
      { external_user_id: '100%', traits: {} },
    ];
    await putRecords(db, { projectId: id, kind: 'users', records });
    const events = [{ external_user_id: 'user_1026', name: 'user_signed_up', properties: {} }];
    await putRecords(db, { projectId: id, kind: 'events', records: events });
  }
  await engine.settle();
  await request(`POST /projects/${projectId}/audiences`, {
    name: 'Paying customers',
    definition: { trait: 'plan', equals: 'pro' },
  });
  await db.query(
    `INSERT INTO beckon.webhook_endpoint (project_id, id, url, created_at, per_second, in_flight_max)
     VALUES ($1, gen_random_uuid(), 'https://hooks.acme.test/in', now(), 10, 10)`,
    [projectId],
  );
});

async function request(route: string, body: object): Promise<void> {
  const { status, json } = await dashboard.request(route, { as: 'admin', body });
  expect([status, json.errors]).toEqual([200, undefined]);
}

async function search(text: string, as: 'viewer' | 'admin' = 'viewer'): Promise<SearchResult> {
  const { status, json } = await dashboard.request(
    `GET /projects/${projectId}/search?text=${encodeURIComponent(text)}`,
    { as },
  );
  expect([status, json.errors], text).toEqual([200, undefined]);
  return json.data as SearchResult;
}
async function found(text: string, as: 'viewer' | 'admin' = 'viewer'): Promise<string[]> {
  const { found: matches } = await search(text, as);
  return matches.map(({ kind, label }: Found) => `${kind} ${label}`);
}

describe('GET /projects/:project/search', () => {
  test.each(['user_1026', 'omar@exa', 'OMAR@EXAMPLE.COM', 'haddad', 'Omar'])(
    'finds a user by %s: id, address or name, once',
    async (text) => {
      expect((await found(text)).filter((match) => match.startsWith('user'))).toEqual(['user Omar Haddad']);
    },
  );

  test('finds a name in any case of any script', async () => {
    expect(await found('ömer')).toEqual(['user Ömer Öz']);
    expect(await found('ÖZ')).toEqual(['user Ömer Öz']);
  });

  test('returns the address and the id beside the name', async () => {
    expect((await search('haddad')).found).toEqual([
      { kind: 'user', id: 'user_1026', label: 'Omar Haddad', detail: 'Omar@example.com · user_1026' },
    ]);
  });

  test('takes wildcards of the database literally', async () => {
    expect(await found('100%')).toEqual(['user 100%']);
    expect(await found('r_1')).toEqual([]);
    expect(await found('%%')).toEqual([]);
  });

  test('finds rules, templates, events, audiences and the drafts of a rule', async () => {
    expect(await found('welcome')).toEqual(
      expect.arrayContaining(['template welcome', 'rule welcome', 'email Welcome to Acme']),
    );
    expect(await found('signed_up')).toEqual(['event user_signed_up']);
    expect(await found('paying')).toEqual(['audience Paying customers']);
  });

  test('finds a draft by its id', async () => {
    const [email] = (await search('Welcome to')).found.filter(({ kind }) => kind === 'email');
    expect((await search(email?.id ?? '')).found).toEqual([email]);
  });

  test('returns webhook endpoints to admins alone', async () => {
    expect(await found('hooks.acme', 'admin')).toEqual(['webhook https://hooks.acme.test/in']);
    expect(await found('hooks.acme')).toEqual([]);
  });

  test('returns at most five matches of each kind', async () => {
    const records = Array.from({ length: 9 }, (_, at) => ({ external_user_id: `many_${at}`, traits: {} }));
    await putRecords(db, { projectId, kind: 'users', records });
    await engine.settle();
    expect(await found('many_')).toHaveLength(5);
  });

  test.each([
    ['a', 'one character'],
    ['%20%20', 'only blanks'],
    ['a%00b', 'NUL'],
  ])('returns 422 for %s: %s', async (text) => {
    const { status, json } = await dashboard.request(`GET /projects/${projectId}/search?text=${text}`, {
      as: 'viewer',
    });
    expect(status).toBe(422);
    expect(json.errors).toMatchObject([{ field: 'text' }]);
  });
});

describe('search over many users', () => {
  const PEOPLE = 60_000;
  beforeAll(async () => {
    await db.query(
      `INSERT INTO beckon.person (project_id, external_user_id, name, traits, first_seen_at, last_seen_at)
       SELECT $1, 'p' || n, 'Person ' || n, '{}', now(), now() FROM generate_series(1, ${PEOPLE}) n`,
      [other],
    );
    await db.query(
      `INSERT INTO beckon.person_email (project_id, external_user_id, email, email_lower)
       SELECT $1, 'p' || n, 'p' || n || '@example.com', 'p' || n || '@example.com' FROM generate_series(1, ${PEOPLE}) n`,
      [other],
    );
    await db.query('ANALYZE beckon.person');
    await db.query('ANALYZE beckon.person_email');
  }, 60_000);

  test('finds ids and addresses by their indexes', async () => {
    const { json } = await dashboard.request(`GET /projects/${other}/search?text=p59999`, { as: 'viewer' });
    expect((json.data as SearchResult).found).toMatchObject([{ id: 'p59999' }]);
    const rows = await db.query<{ 'QUERY PLAN': { Plan: object }[] }>(
      `EXPLAIN (FORMAT JSON) SELECT external_user_id FROM beckon.person
       WHERE project_id = ${other} AND external_user_id LIKE 'p5999%' ORDER BY external_user_id LIMIT 5`,
    );
    expect(JSON.stringify(rows)).toContain('Index');
  });

  test('reports an incomplete result when the database ends a statement', async () => {
    const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const holder = db.transaction(async (tx) => {
      await tx.query('LOCK TABLE beckon.person IN ACCESS EXCLUSIVE MODE');
      isLocked();
      await ended;
    });
    await locked;
    const result = await search('welcome');
    end();
    await holder;
    expect(result.partial).toBe(true);
    expect(result.found.map(({ kind }) => kind)).toContain('rule');
  });
});
