import pg from 'pg';
import type { ConnectionSource } from '../../src/platform/db/connections.ts';
import { distribute } from '../../src/platform/db/distribute.ts';
import { migrate } from '../../src/platform/db/migrate.ts';

/**
 * Databases on a distributed cluster, for a run of the tests. The address names a database of the coordinator in which the workers are
 * registered. Each test database exists on every node. The tests of a file take one, which is emptied first: to create one takes longer.
 */
const PREFIX = 'beckon_cluster_';
/** Enough to place projects on both workers of a small cluster, and few enough that tables are created quickly. */
const SHARDS = 4;
const DATABASES_MAX = 20;

export type ClusterDatabase = { url: string; release: () => Promise<void> };

/** Takes a database that no other test uses, in the state of a migrated or of an unused one. */
export async function takeClusterDatabase(url: string, kind: 'migrated' | 'empty'): Promise<ClusterDatabase> {
  const { name, release } = await reserve(url);
  try {
    const own = inDatabase(url, name);
    if (!(await exists(url, name))) await createOnNodes(url, name);
    await run(own, 'DROP SCHEMA IF EXISTS beckon CASCADE');
    const connection: ConnectionSource = () => ({ connectionString: own });
    if (kind === 'migrated') {
      await migrate(connection);
      await distribute(connection, { shards: SHARDS });
    }
    return { url: own, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Drops the test databases of earlier runs and of this one on every node. */
export async function dropClusterDatabases(url: string): Promise<void> {
  for (const node of await nodesOf(url)) {
    const rows = await run<{ name: string }>(
      node,
      `SELECT datname AS name FROM pg_database WHERE starts_with(datname, '${PREFIX}')`,
    );
    for (const { name } of rows) await run(node, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

/** A lock of the connection reserves a name. It ends with the process, so that a killed one reserves nothing. */
async function reserve(url: string): Promise<{ name: string; release: () => Promise<void> }> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  for (let number = 1; number <= DATABASES_MAX; number += 1) {
    const name = `${PREFIX}${number}`;
    const { rows } = await client.query<{ free: boolean }>(
      'SELECT pg_try_advisory_lock(hashtext($1)) AS free',
      [name],
    );
    if (rows[0]?.free) return { name, release: () => client.end() };
  }
  await client.end();
  throw new Error(`The tests use ${DATABASES_MAX} databases of the cluster already`);
}

async function exists(url: string, name: string): Promise<boolean> {
  return (await run(url, `SELECT 1 FROM pg_database WHERE datname = '${name}'`)).length > 0;
}

async function createOnNodes(url: string, name: string): Promise<void> {
  const nodes = await nodesOf(url);
  for (const node of nodes) await run(node, `CREATE DATABASE ${name}`);
  for (const node of nodes) await run(inDatabase(node, name), 'CREATE EXTENSION citus');
  const [coordinator, ...workers] = nodes.map((node) => new URL(node));
  if (!coordinator) throw new Error('The cluster has no coordinator');
  const own = inDatabase(url, name);
  await run(own, `SELECT citus_set_coordinator_host('${coordinator.hostname}', ${coordinator.port})`);
  for (const { hostname, port } of workers) await run(own, `SELECT citus_add_node('${hostname}', ${port})`);
}

/** Returns the addresses of the coordinator and its workers. All nodes accept the same role and password. */
async function nodesOf(url: string): Promise<string[]> {
  const workers = await run<{ host: string; port: number }>(
    url,
    `SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' ORDER BY 1, 2`,
  );
  return [
    url,
    ...workers.map(({ host, port }) => {
      const node = new URL(url);
      node.hostname = host;
      node.port = String(port);
      return node.href;
    }),
  ];
}

function inDatabase(url: string, name: string): string {
  const own = new URL(url);
  own.pathname = name;
  return own.href;
}

async function run<R extends object>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}
