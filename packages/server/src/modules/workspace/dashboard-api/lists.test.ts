import { afterAll, describe, expect, test } from 'vitest';
import { FILTER_KEYS, type ListName, LIST_SORTS, type SavedView } from '@beckon/contract/dashboard';
import { cellsOf } from '@beckon/contract/files';
import { ENDPOINT, FORMULA, type ListRow, openLists } from '../../../../testing/factories/lists.ts';
import { listEntries } from '../audit/store.ts';

/** Every list of the dashboard: the same filter, order, pages and CSV. */

const { db, dashboard, projectId, request, rowsOf } = await openLists();
afterAll(() => dashboard.close());

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
  ids: [(row: ListRow) => unknown, string];
  /** A filter that some of the rows pass. */
  filter: string;
  word: string;
  query?: Record<string, string>;
};

/** Nothing in these rows can begin with a formula: the traits of users are JSON, and some names are restricted. */
const WITHOUT_FORMULA: ListName[] = ['users', 'templates', 'audit', 'domains'];

const idOf = (row: ListRow): unknown => row['id'];
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
    list: 'topics',
    path: 'suppressions/topics',
    csv: 'suppressions/topics.csv',
    ids: [(row) => row['value'], 'value'],
    filter: 'kind:email topic:text* since:2026-01-01',
    word: 'P4',
  },
  {
    list: 'endpoints',
    path: 'webhooks',
    csv: 'webhooks.csv',
    ids: [idOf, 'id'],
    filter: 'state:enabled failing:no type:email.opened url:*hooks1*,*hooks3*',
    word: 'HOOKS2',
  },
  {
    list: 'audience_members',
    path: 'audiences/Pro/members',
    csv: 'audiences/Pro/members.csv',
    ids: [(row) => row['external_user_id'], 'external_user_id'],
    filter: 'user:p* -name:"text 2" since:2026-01-01',
    word: 'TEXT',
  },
  {
    list: 'runs',
    path: 'rules/welcome/runs',
    csv: 'rules/welcome/runs.csv',
    ids: [idOf, 'id'],
    filter: 'state:active waits:time version:1 trigger:text* -user:p1',
    word: 'P3',
  },
  {
    list: 'domains',
    path: 'domains',
    csv: 'domains.csv',
    ids: [(row) => row['name'], 'name'],
    filter: 'state:pending paused:no -name:a.*',
    word: 'MAIL',
  },
  {
    list: 'keys',
    path: 'keys',
    csv: 'keys.csv',
    ids: [idOf, 'id'],
    filter: 'state:active env:live label:W*',
    word: 'WORK',
  },
  {
    list: 'team',
    path: 'members',
    csv: 'members.csv',
    ids: [(row) => row['email'], 'email'],
    filter: 'role:editor two_factor:no joined:2026-01-01',
    word: 'P2@ACME',
  },
  {
    list: 'drafts',
    path: 'drafts',
    csv: 'drafts.csv',
    ids: [idOf, 'id'],
    filter: 'state:scheduled -user:d6 edited:no',
    word: 'HELLO',
  },
  {
    list: 'decided',
    path: 'review/decided',
    csv: 'review/decided.csv',
    ids: [(row) => (row['draft'] as ListRow)['id'], 'draft_id'],
    filter: 'action:skip -user:x at:>2026-01-01',
    word: 'HELLO',
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
    expect(await valuesOf('event', 'ED')).toEqual(['opened', 'closed']);
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
    expect(await valuesOf('api_key', 'work')).toEqual(['Worker']);
    expect(await valuesOf('topic', 'tip')).toEqual([]);
    await request('PATCH', 'settings', { settings: { topics: 'news:Product news,tips:Tips and tricks' } });
    expect(await valuesOf('topic', 'tip')).toEqual(['Tips and tricks']);
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
