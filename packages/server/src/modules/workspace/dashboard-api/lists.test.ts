import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FILTER_KEYS, type ListName, LIST_SORTS, type SavedView } from '@beckon/contract/dashboard';
import { cellsOf } from '@beckon/contract/files';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { openEngine } from '../../../../testing/factories/engine.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { createProject } from '../../administration/create-project.ts';
import { deadLetterRecord } from '../../ingest/index.ts';
import { listEntries } from '../audit/store.ts';

/** Every list of the dashboard: the same filter, order, pages and CSV. */

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

/** A spreadsheet would run it. */
const FORMULA = '=1+1';
const ENDPOINT = '018f0000-0000-7000-8000-00000000e001';
let projectId = 0;

beforeAll(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: [{ external_user_id: 'u1', traits: { plan: 'pro' } }],
  });
  const event = { external_user_id: 'u1', name: FORMULA, properties: { seats: 1 } };
  for (const name of ['opened', 'closed', 'closed']) {
    await putRecords(db, { projectId, kind: 'events', records: [{ ...event, name }] });
    clock.advance(1_000);
  }
  await putRecords(db, { projectId, kind: 'events', records: [event] });
  await engine.settle();
  for (const [name, plan] of [
    ['Pro', 'pro'],
    ['Trial', 'trial'],
    [FORMULA, 'free'],
  ] as const)
    await request('POST', 'audiences', { name, definition: { trait: 'plan', equals: plan } });
  const draft = { subject: 'Hello', body: 'Hello' };
  const document = { name: FORMULA, when: { event: 'opened' }, steps: [{ draft }] };
  await request('POST', 'rules', { document });
  for (const name of ['a.csv', 'b.csv', FORMULA])
    await request('POST', 'imports', { kind: 'users', name, size_bytes: 10 });
  await engine.settle();
  await fillTables();
}, 60_000);

/** Rows of these tables come from users, relays and mail servers, which are not here. */
async function fillTables(): Promise<void> {
  const each = `FROM generate_series(1, 5) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 h' AS at) t`;
  const texts = `CASE n WHEN 3 THEN '${FORMULA}' ELSE 'text ' || n END`;
  const statements = [
    `INSERT INTO beckon.person (project_id, external_user_id, name, traits, first_seen_at, last_seen_at)
     SELECT $1, 'p' || n, ${texts}, '{}', t.at - (n % 3) * interval '1 day', t.at ${each}`,
    `INSERT INTO beckon.email (project_id, draft_id, id, rule_id, external_user_id, address, template, state, counts, claimed_at)
     SELECT $1, md5('d' || n)::uuid, md5('m' || n)::uuid, md5('rule')::uuid, 'p' || n, 'p' || n || '@x.test', ${texts}, 'sent', true, t.at ${each}`,
    `INSERT INTO beckon.suppression (project_id, kind, value, reason, created_at, created_by)
     SELECT $1, CASE WHEN n < 4 THEN 'email' ELSE 'user' END, CASE n WHEN 3 THEN '${FORMULA}@x.test' ELSE 'p' || (6 - n) || CASE WHEN n < 4 THEN '@x.test' ELSE '' END END,
       'manual', t.at, 'engine' ${each}`,
    `INSERT INTO beckon.ingest_log (project_id, at, id, endpoint, status, code, requests, accepted, rejected, request_id)
     SELECT $1, t.at, md5('l' || n)::uuid, 'events', CASE WHEN n = 3 THEN 422 ELSE 202 END, CASE n WHEN 3 THEN '${FORMULA}' END, 1, 1, 0, 'r' || n ${each}`,
    `INSERT INTO beckon.reply (project_id, id, email_id, draft_id, external_user_id, inbound_id, kind, verified, received_at, from_address, from_name, subject, text)
     SELECT $1, md5('r' || n)::uuid, md5('m' || n)::uuid, md5('d' || n)::uuid, 'p' || n, 'i' || n, 'reply', 'recipient', t.at, 'p' || n || '@x.test', '', ${texts}, 'Thanks' ${each}`,
    `INSERT INTO beckon.test_inbox_email (project_id, id, copy, mail_from, rcpt_to, subject, external_user_id, raw, size, at)
     SELECT $1, md5('t' || n)::uuid, 1, 'b@x.test', 'p' || n || '@x.test', ${texts}, 'p' || n, '', 100, t.at ${each}`,
    `INSERT INTO beckon.webhook_endpoint (project_id, id, url, created_at, per_second, in_flight_max)
     SELECT $1, '${ENDPOINT}', 'https://hooks.acme.test', now(), 10, 4`,
    `INSERT INTO beckon.webhook_health (project_id, endpoint_id, tokens, refilled_at) SELECT $1, '${ENDPOINT}', 1, now()`,
    `INSERT INTO beckon.webhook (project_id, id, type, body, created_at)
     SELECT $1, md5('w' || n)::uuid, CASE n WHEN 3 THEN '${FORMULA}' ELSE 'email.opened' END, '{}', t.at ${each}`,
    `INSERT INTO beckon.webhook_delivery (project_id, webhook_id, endpoint_id, state, created_at)
     SELECT $1, md5('w' || n)::uuid, '${ENDPOINT}', CASE WHEN n % 2 = 0 THEN 'delivered' ELSE 'exhausted' END, t.at ${each}`,
  ];
  for (const statement of statements) await db.query(statement, [projectId]);
  for (const seq of [1, 2, 3])
    await deadLetterRecord(
      db,
      {
        projectId,
        seq,
        priority: 'live',
        kind: 'events',
        record: { name: `x${seq}` },
        acceptedAt: new Date(0),
      },
      { reason: seq === 3 ? FORMULA : `reason ${seq}`, at: new Date(0) },
    );
}

type Row = Record<string, unknown>;

async function request<T = Row[]>(method: string, path: string, body?: object) {
  const answer = await dashboard.request<T>(`${method} /projects/${projectId}/${path}`, {
    ...(body ? { body } : {}),
    as: 'admin',
  });
  expect([answer.status, answer.json?.errors], path).toEqual([200, undefined]);
  return answer;
}

/** Reads all pages of a list. */
async function rowsOf(path: string, query: Record<string, string>, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const search = new URLSearchParams({
      ...query,
      limit: String(limit),
      ...(cursor === '' ? {} : { cursor }),
    });
    const { json } = await request(`GET`, `${path}?${search.toString()}`);
    rows.push(...json.data);
    ({ cursor } = json.meta);
    expect(rows.length).toBeLessThan(100);
  }
  return rows;
}

async function csvOf(path: string, query: Record<string, string>): Promise<Record<string, string>[]> {
  const { status, text, headers } = await dashboard.request(
    `GET /projects/${projectId}/${path}?${new URLSearchParams(query).toString()}`,
    { as: 'admin' },
  );
  expect([status, headers['content-type']], text).toEqual([200, 'text/csv; charset=utf-8']);
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const names = cellsOf(head, ',');
  return lines.map((line) => {
    const cells = cellsOf(line, ',');
    return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']));
  });
}

type ListCase = {
  list: ListName;
  path: string;
  csv: string;
  /** The same text in a row of the list and of the file. */
  ids: [(row: Row) => unknown, string];
  /** A filter that some of the rows pass. */
  filter: string;
  word: string;
  query?: Record<string, string>;
};

/** Nothing in these rows can begin with a formula: the traits of users are JSON, and names of templates are restricted. */
const WITHOUT_FORMULA: ListName[] = ['users', 'templates', 'audit'];

const idOf = (row: Row): unknown => row['id'];
const CASES: ListCase[] = [
  {
    list: 'users',
    path: 'users',
    csv: 'users.csv',
    ids: [(row) => row['external_user_id'], 'external_user_id'],
    filter: '-name:text*',
    word: 'TEXT',
  },
  {
    list: 'emails',
    path: 'emails',
    csv: 'emails/export',
    ids: [idOf, 'id'],
    filter: 'user:p1,p2',
    word: 'P3@X',
  },
  {
    list: 'test_inbox',
    path: 'test-inbox',
    csv: 'test-inbox.csv',
    ids: [idOf, 'id'],
    filter: 'to:p1@*,p2@* kind:team',
    word: 'TEXT',
  },
  {
    list: 'replies',
    path: 'replies',
    csv: 'replies.csv',
    ids: [idOf, 'id'],
    filter: 'user:p1,p2 forwarded:none received:>2025-12-31',
    word: 'TEXT',
  },
  {
    list: 'requests',
    path: 'requests',
    csv: 'requests.csv',
    ids: [idOf, 'id'],
    filter: 'status:4*',
    word: '422',
  },
  {
    list: 'deliveries',
    path: 'webhook-deliveries',
    csv: 'webhook-deliveries.csv',
    ids: [idOf, 'id'],
    filter: 'state:exhausted created:<2026-01-01T04:00:00Z',
    word: 'EMAIL.op',
    query: { endpoint: ENDPOINT },
  },
  {
    list: 'suppressions',
    path: 'suppressions',
    csv: 'suppressions.csv',
    ids: [(row) => row['value'], 'value'],
    filter: 'kind:user since:2026-01-01',
    word: '@X.test',
  },
  {
    list: 'imports',
    path: 'imports',
    csv: 'imports.csv',
    ids: [idOf, 'id'],
    filter: 'name:*.csv',
    word: 'A.CSV',
  },
  {
    list: 'dead_letters',
    path: 'dead-letters',
    csv: 'dead-letters.csv',
    ids: [(row) => String(row['seq']), 'number'],
    filter: '-reason:reason*',
    word: 'X2',
  },
  {
    list: 'rules',
    path: 'rules',
    csv: 'rules.csv',
    ids: [idOf, 'id'],
    filter: 'state:enabled mode:autopilot -name:welcome active:no warning:no,yes',
    word: 'WELCOME',
  },
  {
    list: 'audiences',
    path: 'audiences',
    csv: 'audiences.csv',
    ids: [idOf, 'id'],
    filter: 'name:Pro,Trial state:ready',
    word: 'TRIAL',
  },
  {
    list: 'events',
    path: 'events',
    csv: 'events.csv',
    ids: [(row) => row['name'], 'name'],
    filter: 'property:seats drift:none -name:opened',
    word: 'CLOSE',
  },
  {
    list: 'templates',
    path: 'templates',
    csv: 'templates.csv',
    ids: [(row) => row['name'], 'name'],
    filter: 'origin:built_in -name:welcome',
    word: 'WELCOME',
  },
  {
    list: 'audit',
    path: 'audit',
    csv: 'audit.csv',
    ids: [(row) => row['action'], 'action'],
    filter: 'action:audience.* at:>2020-01-01 member:*',
    word: 'AUDIENCE.create',
  },
];

describe.each(CASES)('list $list', ({ list, path, csv, ids: [ofRow, ofLine], filter, word, query = {} }) => {
  const sorts: readonly (string | undefined)[] = Object.hasOwn(LIST_SORTS, list)
    ? LIST_SORTS[list as keyof typeof LIST_SORTS]
    : [undefined];

  describe.each(sorts)('sorted by %s', (sort) => {
    const all = { ...query, ...(sort === undefined ? {} : { sort }) };

    test('has the same rows in pages of two as in one page', async () => {
      const whole = (await rowsOf(path, all, 100)).map(ofRow);
      expect(whole.length).toBeGreaterThan(2);
      const paged = (await rowsOf(path, all, 2)).map(ofRow);
      expect(paged).toEqual(whole);
    });

    test('has the rows of the list in its CSV, in the same order', async () => {
      const shown = (await rowsOf(path, { ...all, filter }, 2)).map(ofRow);
      const lines = (await csvOf(csv, { ...all, filter })).map((line) => plain(line[ofLine]));
      expect(lines).toEqual(shown);
      expect(shown.length).toBeGreaterThan(0);
      expect(shown.length).toBeLessThan((await rowsOf(path, all, 100)).length);
    });
  });

  test('writes no formula into its CSV', async () => {
    const cells = (await csvOf(csv, query)).flatMap((line) => Object.values(line));
    expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
    if (!WITHOUT_FORMULA.includes(list)) expect(cells.join('\n')).toContain(`'${FORMULA}`);
  });

  test('finds words in any case, and excludes them', async () => {
    const all = await rowsOf(path, query, 100);
    const [found, others] = [
      await rowsOf(path, { ...query, filter: word }, 100),
      await rowsOf(path, { ...query, filter: `-${word}` }, 100),
    ];
    expect(found.length).toBeGreaterThan(0);
    expect(others.length).toBe(all.length - found.length);
  });

  test('refuses an unknown key before it sends a file', async () => {
    for (const url of [path, csv]) {
      const search = new URLSearchParams({ ...query, filter: 'colour:red' });
      const { status, json } = await dashboard.request(
        `GET /projects/${projectId}/${url}?${search.toString()}`,
        {
          as: 'admin',
        },
      );
      expect([url, status, json.errors[0]?.field]).toEqual([url, 422, 'filter']);
    }
  });
});

/** Reverts the apostrophe before a formula. */
function plain(cell = ''): string {
  return /^'[=+\-@]/.test(cell) ? cell.slice(1) : cell;
}

describe('order of a list', () => {
  test.each([
    ['users', 'user', 'external_user_id'],
    ['users', '-user', 'external_user_id'],
    ['users', 'first', 'first_seen_at'],
    ['users', '-first', 'first_seen_at'],
    ['emails', 'at', 'claimed_at'],
    ['emails', '-at', 'claimed_at'],
    ['requests', 'at', 'at'],
    ['requests', '-at', 'at'],
    ['webhook-deliveries', 'at', 'created_at'],
    ['webhook-deliveries', '-at', 'created_at'],
    ['suppressions', 'since', 'created_at'],
    ['suppressions', '-since', 'created_at'],
    ['audiences', '-name', 'name'],
    ['rules', 'name', 'name'],
    ['rules', '-name', 'name'],
    ['rules', 'priority', 'priority'],
    ['rules', '-priority', 'priority'],
    ['audiences', '-members', 'members'],
    ['events', 'name', 'name'],
    ['events', '-recent', 'last_30_days'],
    ['events', '-name', 'name'],
  ])('%s by %s is by %s', async (path, sort, field) => {
    const values = (await rowsOf(path, { sort }, 2)).map((row) => row[field] as string | number);
    const ascending = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    expect(values).toEqual(sort.startsWith('-') ? ascending.toReversed() : ascending);
    expect(new Set(values).size).toBeGreaterThan(1);
  });

  test('is one of those that have an index', async () => {
    const { status, json } = await dashboard.request(`GET /projects/${projectId}/users?sort=seen`, {
      as: 'viewer',
    });
    expect([status, json.errors[0]?.field]).toEqual([422, 'sort']);
  });
});

describe('saved views', () => {
  const views = (): string => `/projects/${projectId}/views`;
  const make = (screen: string, name: string, filter: string) =>
    dashboard.request<SavedView>(`POST ${views()}`, { body: { screen, name, filter }, as: 'editor' });

  test.each(Object.keys(FILTER_KEYS))('of %s are separate from those of other lists', async (screen) => {
    const made = await make(screen, 'Mine', 'word');
    expect([made.status, made.json.errors]).toEqual([200, undefined]);
    const { json } = await dashboard.request<SavedView[]>(`GET ${views()}?screen=${screen}`, {
      as: 'viewer',
    });
    expect(json.data.map(({ id }) => id)).toEqual([made.json.data.id]);
    expect((await make(screen, 'Odd', 'colour:red')).json.errors[0]?.field).toBe('filter');
  });

  test('can be renamed by editors, but not to a name that another view has', async () => {
    const { id } = (await make('emails', 'Failed', 'state:failed')).json.data;
    await make('emails', 'Sent', 'state:sent');
    const rename = (name: string, as: 'editor' | 'viewer' = 'editor') =>
      dashboard.request<SavedView>(`PATCH ${views()}/${id}`, { body: { name }, as });
    expect((await rename('Bad', 'viewer')).status).toBe(403);
    expect((await rename('Sent')).json.errors[0]).toMatchObject({ code: 'conflict', field: 'name' });
    expect((await rename(' ')).json.errors[0]?.field).toBe('name');
    expect((await rename('Failed')).status).toBe(200);
    expect((await rename('Not delivered')).json.data).toMatchObject({
      name: 'Not delivered',
      filter: 'state:failed',
    });
    const gone = await dashboard.request(`PATCH ${views()}/${projectId}`, {
      body: { name: 'x' },
      as: 'editor',
    });
    expect(gone.status).toBe(404);
  });
});

describe('values of a filter key', () => {
  const valuesOf = async (of: string, text = ''): Promise<unknown[]> => {
    const { json } = await request<{ value: string; label: string | null }[]>(
      'GET',
      `filter-values?${new URLSearchParams({ of, text }).toString()}`,
    );
    return json.data.map(({ value, label }) => label ?? value);
  };

  test('come from the project, at most ten, those that begin with the text first', async () => {
    expect(await valuesOf('audience', 'tri')).toEqual(['Trial']);
    expect(await valuesOf('event', 'ED')).toEqual(['closed', 'opened']);
    expect(await valuesOf('rule')).not.toEqual([]);
    expect(await valuesOf('template', 'text 1')).toEqual(['text 1']);
    await db.query(
      `INSERT INTO beckon.person (project_id, external_user_id, plan, company, traits, first_seen_at, last_seen_at)
       SELECT $1, 'plan' || n, 'plan ' || n, 'a%b', '{"seats": 1}', now(), now() FROM generate_series(1, 20) n`,
      [projectId],
    );
    expect(await valuesOf('plan', 'an')).toHaveLength(10);
    expect(await valuesOf('company', '%')).toEqual(['a%b']);
    expect(await valuesOf('trait', 'sea')).toEqual(['seats']);
    expect(await valuesOf('role', 'x')).toEqual([]);
    await request('POST', 'keys', { label: 'Server' });
    expect(await valuesOf('api_key', 'serv')).toEqual(['Server']);
  });
});

describe('bulk removal of suppressions', () => {
  const remove = (body: object, as: 'admin' | 'editor' = 'admin') =>
    dashboard.request(`POST /projects/${projectId}/suppressions/remove-many`, { body, as });
  const entries = [
    { kind: 'email', value: 'p5@x.test' },
    { kind: 'user', value: 'p2' },
    { kind: 'user', value: 'never suppressed' },
  ];

  test('removes those in the list, counts the others, and logs no address', async () => {
    const body = { entries, confirm: 3, reason: 'mistake' };
    expect((await remove(body, 'editor')).status).toBe(403);
    expect((await remove({ ...body, confirm: 2 })).json.errors[0]?.field).toBe('confirm');
    const before = (await rowsOf('suppressions', {}, 100)).length;
    expect((await remove(body)).json.data).toEqual({
      removed: 2,
      refused: [{ message: 'The entry is no longer in the list', rows: 1 }],
    });
    expect((await rowsOf('suppressions', {}, 100)).length).toBe(before - 2);
    const [entry] = await listEntries(db, {
      projectIds: [projectId],
      actor: null,
      action: 'suppression.remove_many',
      after: null,
      limit: 1,
    });
    expect(entry).toMatchObject({
      subject: '2 suppressions',
      after: { removed: 2, refused: 1, reason: 'mistake' },
    });
    expect(JSON.stringify(entry)).not.toContain('x.test');
  });

  test('takes at most 500 entries', async () => {
    const many = Array.from({ length: 501 }, (_, n) => ({ kind: 'user', value: `u${n}` }));
    expect((await remove({ entries: many, confirm: 501, reason: 'mistake' })).status).toBe(422);
  });
});
