import type pg from 'pg';
import type { Attack, Finding, Target } from './attack.ts';
import { bodyFor, dashboardRoutes, ENDLESS, smallestValue, liftLimits, publicRoutes } from './routes.ts';
import { runTests } from './run-tests.ts';
import { JSON_BODY, type Victim } from './victim.ts';

/** The number of rows per table that provide ids. A whole page of rows reveals no more than two. */
const ROWS_A_TABLE = 2;
/** Tables in which the server counts requests, for any caller. */
const SHARED_TABLES = new Set([
  'ingest_log',
  'ingest_warning',
  'api_key_use',
  'api_key_traffic',
  'rate_limit',
  'audit',
]);

type ProjectData = { tables: string[]; filled: string[]; ids: Map<string, string[]>; secrets: string[] };

export const s02: Attack = {
  id: 'S2',
  title: 'isolation: reads and writes of project data by another project',
  passLine: 'no row of project A is shown to or changed by project B, by any route, with any id of any table',
  quick: false,
  async run(target) {
    const victim = await target.ownVictim();
    const { id: projectA } = await victim.command<{ id: number }>('demo');
    await victim.stop();
    // No worker processes or sends from here on, so every later change comes from the attack.
    await victim.start({ ROLES: 'api' });
    const projectB = await victim.newProject('Other');
    await liftLimits(victim);
    const data = await victim.database((db) => readProjectData(db, projectA));
    target.count('tenant tables', data.tables.length);
    target.count('tenant tables with rows', data.filled.length);
    const before = await victim.database((db) => checksumsOf(db, data.tables, projectA));
    const findings = await callRoutes(target, { victim, projectB, data });
    findings.push(...(await writeAbout(target, { victim, projectB, data })));
    const after = await victim.database((db) => checksumsOf(db, data.tables, projectA));
    for (const [table, checksum] of before)
      if (after.get(table) !== checksum)
        findings.push({ severity: 'high', title: `project B changed ${table} of project A` });
    const tests = await runTests(target, [
      'packages/server/src/modules/workspace/dashboard-api/isolation.test.ts',
      'packages/server/src/modules/workspace/dashboard-api/access.test.ts',
      'packages/server/src/platform/migrations/schema.test.ts',
    ]);
    return [...findings, ...tests];
  },
};

/** Reads every tenant table, ids from its rows, and values that only project A has. */
async function readProjectData(db: pg.Client, project: number): Promise<ProjectData> {
  const { rows: tables } = await db.query<{ name: string }>(
    `SELECT DISTINCT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
     WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
  );
  const ids = new Map<string, string[]>();
  const filled: string[] = [];
  for (const { name } of tables) {
    const { rows } = await db.query<Record<string, unknown>>(
      `SELECT * FROM "${name}" WHERE project_id = $1 LIMIT ${ROWS_A_TABLE}`,
      [project],
    );
    if (rows.length > 0) filled.push(name);
    const rowIds = rows.flatMap((row) =>
      Object.entries(row).flatMap(([column, value]) =>
        typeof value === 'string' && value.length <= 100 && /(^|_)(id|key|place|slug|code)$/.test(column)
          ? [value]
          : [],
      ),
    );
    if (rowIds.length > 0) ids.set(name, [...new Set(rowIds)]);
  }
  const { rows: people } = await db.query<{ email: string }>(
    'SELECT email FROM person_email WHERE project_id = $1 LIMIT 50',
    [project],
  );
  return {
    tables: tables.map(({ name }) => name),
    filled,
    ids,
    secrets: people.map(({ email }) => email),
  };
}

/** Returns a checksum of one project's rows for each table. */
async function checksumsOf(db: pg.Client, tables: string[], project: number): Promise<Map<string, string>> {
  const checksums = new Map<string, string>();
  for (const table of tables) {
    if (SHARED_TABLES.has(table)) continue;
    const { rows } = await db.query<{ sum: string }>(
      `SELECT count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) AS sum FROM "${table}" t WHERE project_id = $1`,
      [project],
    );
    checksums.set(table, rows[0]?.sum ?? '');
  }
  return checksums;
}

type IsolationAttack = { victim: Victim; projectB: number; data: ProjectData };

/** Calls each route of project B that takes an id, with each id that project A has in any table. */
async function callRoutes(target: Target, { victim, projectB, data }: IsolationAttack): Promise<Finding[]> {
  const findings: Finding[] = [];
  const allIds = [...new Set([...data.ids.values()].flat())];
  const routes = dashboardRoutes.filter(({ key }) => key.includes('/projects/:project') && !ENDLESS.has(key));
  for (const { key, body } of routes) {
    const [method = '', path = ''] = key.split(' ');
    const names = path.replace(':project', '').includes(':');
    const ids = names ? allIds : allIds.slice(0, 1);
    const replies = await mapInBatches(ids, async (id) => {
      const filled = path.replace(':project', String(projectB)).replaceAll(/:\w+/g, encodeURIComponent(id));
      const requestBody = method === 'GET' ? undefined : smallestValue(body ?? { type: 'object' }, id);
      return { id, reply: await victim.owner(`${method} ${filled}`, requestBody) };
    });
    target.count('requests of project B with ids of project A', replies.length);
    for (const { id, reply } of replies) {
      if (reply.status >= 500)
        findings.push({
          severity: 'high',
          title: `${key} answers ${reply.status}`,
          evidence: `${id}: ${reply.text}`,
        });
      const leaked = data.secrets.find((secret) => reply.text.includes(secret));
      if (leaked !== undefined)
        findings.push({
          severity: 'high',
          title: `${key} with an id of A shows data of A`,
          evidence: `${id}: ${leaked}`,
        });
    }
  }
  return findings;
}

/** Sends records with the key of project B about users and ids of project A. */
async function writeAbout(target: Target, { victim, projectB, data }: IsolationAttack): Promise<Finding[]> {
  const { secret } = await victim.newKey(projectB, 'theirs');
  const headers = { ...JSON_BODY, authorization: `Bearer ${secret}` };
  const users = [...new Set([...(data.ids.get('person') ?? []), ...(data.ids.get('event') ?? [])])].slice(
    0,
    10,
  );
  const findings: Finding[] = [];
  for (const { path, method } of (await publicRoutes(victim)).filter((route) =>
    route.path.startsWith('/api/'),
  ))
    for (const user of users) {
      const reply = await victim.send(`${method} ${path}`, {
        headers,
        body: JSON.stringify(bodyFor(path, user)),
      });
      target.count('records of project B about people of project A');
      if (reply.status >= 300)
        findings.push({
          severity: 'medium',
          title: `project B learns that A knows a user: ${reply.status}`,
          evidence: reply.text,
        });
    }
  return findings;
}

const AT_ONCE = 8;

async function mapInBatches<T, U>(items: T[], act: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(act))));
  return results;
}
