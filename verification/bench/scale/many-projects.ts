import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { hashSecret, newSecret, SALT_BYTES } from '../../../packages/server/src/modules/ingest/keys/key.ts';
import { encodeChunk } from '../../../packages/server/src/modules/ingest/queue/chunk.ts';
import { fillInSteps, withClient } from '../fill.ts';
import { openTestbed, type Testbed } from '../testbed.ts';
import { settle } from '../world.ts';

/** Projects with consecutive ids. `secrets` has those of their keys, in the order of the projects. */
export type ManyProjects = { testbed: Testbed; firstId: number; count: number; secrets: string[] };

const INTO = { rows: 0, step: 2_000 };

/** Creates one project as the product does, and copies its rows for all others. Each project gets a key. */
export async function openManyProjects(count: number): Promise<ManyProjects> {
  const testbed = await openTestbed();
  try {
    const { id: firstId } = await testbed.project();
    await copyProject(testbed, { firstId, count });
    const projects = { testbed, firstId, count, secrets: [] };
    const secrets = await addKeys(projects, 1);
    await settle(testbed.url);
    return { ...projects, secrets };
  } catch (error) {
    await testbed.close();
    throw error;
  }
}

type Range = { firstId: number; count: number };

async function copyProject({ url }: Testbed, { firstId, count }: Range): Promise<void> {
  const copies = await withClient(url, (client) => copyStatements(client, firstId));
  await fillInSteps(url, { ...INTO, name: 'projects', rows: count - 1 }, async (client, from, to) => {
    // The rows of one project arrive table by table, so references are not checked.
    await client.query('SET session_replication_role = replica');
    for (const copy of copies) await client.query(copy, [firstId, firstId + 1 + from, firstId + to]);
  });
  await withClient(url, (client) =>
    client.query(`SELECT setval('beckon.project_id_seq', $1)`, [firstId + count]),
  );
}

/** One statement for each table in which the project has rows. API keys are made one by one, because each has its own secret. */
async function copyStatements(client: pg.Client, projectId: number): Promise<string[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; types: string[] }>(
    `SELECT c.relname AS name, array_agg(quote_ident(a.attname) ORDER BY a.attnum) AS columns,
            array_agg(format_type(a.atttypid, NULL) ORDER BY a.attnum) AS types
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     WHERE n.nspname = 'beckon' AND c.relkind = 'r' AND NOT c.relispartition AND c.relname <> 'api_key'
       AND EXISTS (SELECT 1 FROM pg_attribute p WHERE p.attrelid = c.oid AND p.attname = 'project_id')
     GROUP BY c.relname ORDER BY c.relname`,
  );
  const statements: string[] = [];
  for (const { name, columns, types } of rows) {
    const table = `beckon.${name}`;
    const found = await client.query(`SELECT 1 FROM ${table} WHERE project_id = $1 LIMIT 1`, [projectId]);
    if (found.rowCount === 0) continue;
    // Rules and their versions have ids of their own in each project, and refer to each other by them.
    const values = columns.map((column, i) => {
      if (column === 'project_id') return 'n';
      return types[i] === 'uuid' ? `md5(t.${column} || ' ' || n)::uuid` : `t.${column}`;
    });
    statements.push(
      `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')}
       FROM ${table} t CROSS JOIN generate_series($2::bigint, $3::bigint) AS n WHERE t.project_id = $1`,
    );
  }
  return statements;
}

/** Returns the secrets in the order of the projects: one of each project, then the next of each, and so on. */
export async function addKeys(
  { testbed: { url, pepper }, firstId, count }: ManyProjects,
  keysPerProject: number,
): Promise<string[]> {
  const secrets: string[] = [];
  const rows = count * keysPerProject;
  await fillInSteps(url, { ...INTO, name: 'API keys', rows }, async (client, from, to) => {
    const made = Array.from({ length: to - from }, () => newSecret('live'));
    const salts = made.map(() => randomBytes(SALT_BYTES));
    secrets.push(...made);
    await client.query(ADD_KEYS, [
      made.map((secret) => secret.slice(-4)),
      made.map(() => randomUUID()),
      made.map((_, i) => firstId + ((from + i) % count)),
      salts,
      made.map((secret, i) => hashSecret(pepper, salts[i] ?? Buffer.alloc(0), secret)),
    ]);
  });
  return secrets;
}

const ADD_KEYS = `
  INSERT INTO beckon.api_key (last4, id, env, project_id, label, salt, hash, created_at)
  SELECT last4, id, 'live', project_id, 'bench', salt, hash, now()
  FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bytea[], $5::bytea[]) AS k(last4, id, project_id, salt, hash)`;

/** Adds users to every project. */
export async function addUsers(
  { testbed: { url }, firstId, count }: ManyProjects,
  usersPerProject: number,
): Promise<void> {
  await fillInSteps(url, { ...INTO, name: 'users', rows: count }, (client, from, to) =>
    client.query(ADD_USERS, [firstId + from, firstId + to - 1, usersPerProject]),
  );
  await settle(url);
}

const ADD_USERS = `
  INSERT INTO beckon.person (project_id, external_user_id, traits, first_seen_at, last_seen_at)
  SELECT project_id, 'user-' || nth, '{}', now() - interval '1 hour', now() - interval '1 hour'
  FROM generate_series($1::bigint, $2::bigint) AS project_id CROSS JOIN generate_series(0, $3::int - 1) AS nth`;

/** Removes accepted records that no worker has processed. */
export async function emptyQueue({ testbed: { url } }: ManyProjects): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('TRUNCATE beckon.ingest_queue');
    await client.query('UPDATE beckon.ingest_queue_state SET waiting = 0 WHERE waiting > 0');
  });
  await settle(url);
}

/** Queues `each` single events for every project, as accepted requests leave them. Each is about another user of `addUsers`. */
export async function queueEvents(
  { testbed: { url }, firstId, count }: ManyProjects,
  { each, round }: { each: number; round: number },
): Promise<void> {
  await fillInSteps(url, { ...INTO, name: 'queued events', rows: count }, async (client, from, to) => {
    const bodies = Array.from({ length: each }, (_, i) => eventBody({ round, i }));
    await client.query(QUEUE, [firstId + from, firstId + to - 1, bodies]);
    await client.query(ADVANCE, [firstId + from, firstId + to - 1, each]);
  });
}

function eventBody({ round, i }: { round: number; i: number }): Buffer {
  const event = {
    external_user_id: `user-${i}`,
    name: 'feature_used',
    properties: { feature: 'export', place: `${round}-${i}` },
    occurred_at: new Date().toISOString(),
  };
  return encodeChunk(JSON.stringify([event]));
}

const QUEUE = `
  INSERT INTO beckon.ingest_queue (project_id, seq, priority, kind, records, body, accepted_at)
  SELECT s.project_id, s.next_seq + b.nth - 1, 'live', 'events', 1, b.body, now()
  FROM beckon.ingest_queue_state s CROSS JOIN unnest($3::bytea[]) WITH ORDINALITY AS b(body, nth)
  WHERE s.project_id BETWEEN $1 AND $2`;

const ADVANCE = `
  UPDATE beckon.ingest_queue_state SET next_seq = next_seq + $3, waiting = waiting + $3
  WHERE project_id BETWEEN $1 AND $2`;

/** The size of all tables and indexes of the product, after a vacuum. */
export async function storedBytes({ testbed }: ManyProjects): Promise<number> {
  await settle(testbed.url);
  const [row] = await testbed.db.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'beckon' AND c.relkind IN ('r', 'm')`,
  );
  return row?.bytes ?? 0;
}
