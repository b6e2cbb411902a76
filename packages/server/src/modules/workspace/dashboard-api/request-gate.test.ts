import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { testDatabase } from '../../../../testing/factories/database.ts';
import { systemClock } from '../../../platform/time/clock.ts';
import { type Log, silentLog } from '../../../platform/log.ts';
import { createProject } from '../../administration/create-project.ts';
import { openDatabase } from '../../../platform/db/database.ts';

const testDb = await testDatabase();
const db = await openDatabase({ connection: testDb.connection, clock: systemClock, log: silentLog });
const lines: string[] = [];
const note = (_fields: object, message: string): void => void lines.push(message);
const log: Log = { debug: note, info: note, warn: note, error: note };
const dashboard = testDashboard(db, { log });
afterAll(async () => {
  await dashboard.close();
  await db.close();
  await testDb.drop();
});

let projectId = 0;
let at = '';
beforeAll(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  at = `${await dashboard.url()}/api/dashboard/projects/${projectId}`;
});

/** Returns the number of statements that wait for a lock, by the pool of their connection. */
async function waiting(): Promise<Record<string, number>> {
  const rows = await db.query<{ pool: string; count: number }>(
    `SELECT substring(application_name FROM 8) AS pool, count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ pool, count }) => [pool, count]));
}
async function until(expected: Record<string, number>): Promise<void> {
  for (let now = await waiting(); JSON.stringify(now) !== JSON.stringify(expected);) now = await waiting();
}

/** Locks tables, so that their readers wait. */
async function holding<T>(tables: string, work: () => Promise<T>): Promise<T> {
  const holder = await db.session();
  await holder.script(`BEGIN; LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
  try {
    return await work();
  } finally {
    await holder.script('ROLLBACK');
    holder.release();
  }
}

/** Returns the number of connections that a request holds or opens. */
function heavyInUse(): number {
  const heavy = db.pools().find(({ name }) => name === 'dashboard_heavy');
  return heavy ? heavy.total - heavy.idle : 0;
}

const AS = { headers: { 'x-test-role': 'owner', origin: 'http://localhost:8080' } };

describe('a client that disconnects', () => {
  test.each([
    {
      what: 'a list with a filter',
      path: 'users?filter=-email:*@x.org',
      table: 'person',
      pool: 'dashboard_heavy',
    },
    { what: 'a list', path: 'views?screen=users', table: 'saved_view', pool: 'dashboard' },
    { what: 'an export', path: 'users.csv?filter=plan:pro', table: 'person', pool: 'dashboard_heavy' },
    { what: 'a feed', path: 'feed?filter=type:user_created', table: 'activity', pool: 'dashboard_heavy' },
    { what: 'a read as of one moment', path: 'schedule', table: 'draft', pool: 'dashboard_heavy' },
  ])('has the statement of $what canceled', async ({ path, table, pool }) => {
    const before = lines.length;
    await holding(`beckon.${table}`, async () => {
      const left = new AbortController();
      const pending = fetch(`${at}/${path}`, { ...AS, signal: left.signal }).then((response) =>
        response.text(),
      );
      const settled = Promise.allSettled([pending]);
      await until({ [pool]: 1 });
      left.abort();
      await settled;
      await until({});
    });
    // The request did not fail, so it is not logged.
    expect(lines.slice(before)).toEqual([]);
  });

  test('gives up its place in the queue', async () => {
    await holding('beckon.person', async () => {
      const left = new AbortController();
      const fetchUsers = () => fetch(`${at}/users?filter=plan:pro`, { ...AS, signal: left.signal });
      const settled = Promise.allSettled(Array.from({ length: 20 }, fetchUsers));
      await until({ dashboard_heavy: 2 });
      left.abort();
      await settled;
      await until({});
    });
    expect((await fetch(`${at}/users?filter=plan:pro`, AS)).status).toBe(200);
  });

  test('still has its change made', async () => {
    await holding('beckon.saved_view', async () => {
      const left = new AbortController();
      const body = JSON.stringify({ screen: 'users', name: 'Kept', filter: 'plan:pro' });
      const headers = { ...AS.headers, 'content-type': 'application/json' };
      const pending = fetch(`${at}/views`, { method: 'POST', headers, body, signal: left.signal });
      const settled = Promise.allSettled([pending]);
      await until({ dashboard_heavy: 1 });
      left.abort();
      await settled;
      // It still waits for the lock.
      expect(await waiting()).toEqual({ dashboard_heavy: 1 });
    });
    const kept = async (): Promise<object[]> =>
      db.query(`SELECT name FROM beckon.saved_view WHERE project_id = $1`, [projectId]);
    while ((await kept()).length === 0);
    expect(await kept()).toEqual([{ name: 'Kept' }]);
  });
});

describe('light requests', () => {
  const views = (project: string): Promise<Response> => fetch(`${project}/views?screen=users`, AS);

  test('take two connections per project, and leave the next one to another project', async () => {
    const other = await createProject(db, { name: 'Other' });
    const neighbor = at.replace(/\d+$/, String(other.id));
    const responses = await holding('beckon.saved_view', async () => {
      const own30 = Array.from({ length: 30 }, () => views(at));
      await until({ dashboard: 2 });
      expect((await fetch(`${neighbor}/settings`, AS)).status).toBe(200);
      expect(await waiting()).toEqual({ dashboard: 2 });
      const neighborResponse = views(neighbor);
      await until({ dashboard: 3 });
      // The access check of a request has a connection left.
      expect(db.pools().find(({ name }) => name === 'dashboard')).toMatchObject({ waiting: 0 });
      return [...own30, neighborResponse];
    });
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('are refused with Retry-After when 200 of a project wait', async () => {
    const responses = await holding('beckon.saved_view', async () => {
      const three = Promise.withResolvers<Response>();
      let count = 0;
      const requests = Array.from({ length: 203 }, async () => {
        const response = await views(at);
        if (response.status === 503 && (count += 1) === 3) three.resolve(response);
        return response;
      });
      const refused = await three.promise;
      expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
        503,
        '5',
        { errors: [{ code: 'busy' }] },
      ]);
      return requests;
    });
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(3);
  });

  test('get 503 with Retry-After when no connection becomes free in time', async () => {
    const full = await openDatabase({
      connection: testDb.connection,
      clock: systemClock,
      log: silentLog,
      pageWaitMs: 500,
    });
    const impatient = testDashboard(full, { log });
    const pages = full.forPages({ cost: 'light' });
    const held = await Promise.all(Array.from({ length: 4 }, () => pages.session()));
    const before = lines.length;
    const { status, headers, json } = await impatient.request(`GET /projects/${projectId}/settings`);
    expect([status, headers['retry-after'], json.errors]).toMatchInlineSnapshot(`
      [
        503,
        "5",
        [
          {
            "code": "busy",
            "message": "All database connections for the dashboard are in use. Try again in 5 seconds.",
          },
        ],
      ]
    `);
    expect(lines.slice(before)).toEqual(['request.no_connection']);
    for (const session of held) session.release();
    await impatient.close();
    await full.close();
  });
});

describe('heavy requests', () => {
  test('leave the other connections alone, however many previews of an audience wait', async () => {
    const preview = (): Promise<Response> =>
      fetch(`${at}/audiences/preview`, {
        method: 'POST',
        headers: { ...AS.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ definition: { trait: 'plan', equals: 'pro' } }),
      });
    const previews = await holding('beckon.person', async () => {
      const requests = Array.from({ length: 24 }, preview);
      const refused = await Promise.race(requests);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      await until({ dashboard_heavy: 2 });
      expect((await fetch(`${at}/settings`, AS)).status).toBe(200);
      expect(db.pools().map(({ name, waiting: callers }) => [name, callers])).toEqual([
        ['general', 0],
        ['batches', 0],
        ['dashboard', 0],
        ['dashboard_heavy', 0],
      ]);
      return requests;
    });
    const statuses = (await Promise.all(previews)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(4);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  });

  test('take one connection each, however many statements they begin together', async () => {
    const tables = 'beckon.email, beckon.outcome';
    const charts = await holding(tables, async () => {
      const chartsResponse = fetch(`${at}/insights/days`, AS);
      await until({ dashboard_heavy: 1 });
      expect(heavyInUse()).toBe(1);
      return [chartsResponse];
    });
    expect((await Promise.all(charts)).map(({ status }) => status)).toEqual([200]);
  });

  test('name the filter that takes longer than a statement may', async () => {
    const short = await openDatabase({
      connection: testDb.connection,
      clock: systemClock,
      log,
      statementWithinMs: 2_000,
    });
    const impatient = testDashboard(short, { log });
    const { id } = await createProject(db, { name: 'Slow' });
    const holder = await short.session();
    await holder.script('BEGIN; LOCK TABLE beckon.person IN ACCESS EXCLUSIVE MODE');
    const { status, json } = await impatient.request(`GET /projects/${id}/users?filter=plan:pro`);
    expect([status, json.errors[0]?.code, json.errors[0]?.field]).toEqual([
      422,
      'validation_failed',
      'filter',
    ]);
    await holder.script('ROLLBACK');
    holder.release();
    await impatient.close();
    await short.close();
  });
});
