import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Found, SearchResult } from '@beckon/contract/dashboard';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { createProject } from '../administration/create-project.ts';
import { findEmails, findUsers, type SearchQuery } from './reads.ts';

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

  test('returns an exact id first, even if a name matches too', async () => {
    const ids = ['ada', 'ada1', 'ada2', 'ada3', 'ada4'];
    const records = ids.map((id) => ({ external_user_id: id, traits: id === 'ada' ? { name: 'Ada' } : {} }));
    await putRecords(db, { projectId, kind: 'users', records });
    await engine.settle();
    expect((await search('ada')).found.map(({ id }) => id)).toEqual(ids);
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
  const DRAFTS = 20_000;
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
    await db.query(
      `INSERT INTO beckon.draft (project_id, id, rule_id, version, step, external_user_id, key, state, subject, preheader, body,
         format, content_hash, is_edited, facts, priority, counts, moves, created_at, updated_at, ended_at)
       SELECT $1, md5('draft' || n)::uuid, md5('rule')::uuid, 1, 0, 'p' || n, '', 'sent', 'Draft ' || n, '', '',
         'markdown', '', false, '{}', 0, true, 1, at, at, at
       FROM generate_series(1, ${DRAFTS}) n, LATERAL (SELECT now() + n * interval '1 s' AS at) t`,
      [other],
    );
    await db.query(
      `INSERT INTO beckon.email (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at)
       SELECT project_id, id, md5('email' || id)::uuid, rule_id, external_user_id, '', 'sent', true, created_at
       FROM beckon.draft WHERE project_id = $1`,
      [other],
    );
    for (const table of ['person', 'person_email', 'draft', 'email'])
      await db.query(`ANALYZE beckon.${table}`);
  }, 60_000);

  /** Explains the statements of a search with their values. */
  async function planOf(
    find: (tx: Tx, query: SearchQuery) => Promise<unknown>,
    text: string,
  ): Promise<{ conditions: string[]; scans: string[] }> {
    const [conditions, scans]: [string[], string[]] = [[], []];
    const tx: Tx = {
      prepared: (query) => tx.query(query.text, query.values),
      async query(statement, values) {
        const rows = await db.query(`EXPLAIN (FORMAT JSON) ${statement}`, values);
        JSON.parse(JSON.stringify(rows), (key, value: unknown) => {
          if (key === 'Index Cond') conditions.push(String(value));
          if (key === 'Node Type') scans.push(String(value));
          return value;
        });
        return [];
      },
    };
    const query = {
      projectId: other,
      text,
      pattern: `%${text}%`,
      prefix: `${text}%`,
      mayReadWebhooks: false,
    };
    await find(tx, { ...query, limit: 5 });
    return { conditions, scans };
  }

  test('finds ids and addresses by their indexes', async () => {
    const { json } = await dashboard.request(`GET /projects/${other}/search?text=p59999`, { as: 'viewer' });
    expect((json.data as SearchResult).found).toMatchObject([{ id: 'p59999' }]);
    const { conditions, scans } = await planOf(findUsers, 'p5999');
    expect(conditions).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/project_id = .* AND \(external_user_id >= 'p5999'/),
        expect.stringMatching(/project_id = .* AND \(email_lower >= 'p5999'/),
      ]),
    );
    expect(scans).not.toContain('Seq Scan');
  });

  test('finds a draft by its id or the id of its email, by their indexes', async () => {
    const [row] = await db.query<{ draft_id: string; id: string }>(
      'SELECT draft_id, id FROM beckon.email WHERE project_id = $1 ORDER BY claimed_at LIMIT 1',
      [other],
    );
    for (const id of [row?.draft_id, row?.id]) {
      const { json } = await dashboard.request(`GET /projects/${other}/search?text=${id}`, { as: 'viewer' });
      expect((json.data as SearchResult).found).toMatchObject([{ kind: 'email', id: row?.draft_id }]);
      const { conditions, scans } = await planOf(findEmails, id ?? '');
      expect(conditions).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/project_id = .* AND \(id = ANY \(.* \|\| /),
          expect.stringMatching(/project_id = .* AND \(id = ANY \('/),
        ]),
      );
      expect(scans).not.toContain('Seq Scan');
    }
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
    const result = await search('welcome').finally(end);
    await holder;
    expect(result.partial).toBe(true);
    expect(result.found.map(({ kind }) => kind)).toContain('rule');
  });
});
