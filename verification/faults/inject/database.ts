import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Fault, Stage } from '../fault.ts';
import { between, pick, type Random } from '../random.ts';
import { spoilFor } from './hold.ts';
import { fillDisk, isOwnDisk } from './own-disk.ts';

/** Database failures in which the product must answer 5xx, leave nothing half done, and recover automatically. */
export const DATABASE_FAULTS: Fault[] = [
  { code: 'F7', name: 'no connection is left', weight: 0.8, run: takeConnections },
  { code: 'F7', name: 'somebody holds a hot row', weight: 0.4, run: holdRows },
  { code: 'F7', name: 'locks in a circle', weight: 0.8, run: lockInCircles },
  { code: 'F7', name: 'statements fail by chance', weight: 0.8, run: failStatements },
  { code: 'F7', name: 'the disk is full', weight: 0.6, run: fill },
];

/** The number of connections left. PostgreSQL reserves three of them for superusers, and the product takes the others at once. */
const KEPT = 8;
const AT_ONCE = 20;
const TAKEN_MS: [number, number] = [3_000, 8_000];

async function takeConnections(stage: Stage, random: Random): Promise<void> {
  const taken: pg.Client[] = [];
  const take = async (): Promise<void> => {
    const first = await stage.postgres.client();
    taken.push(first);
    for (let left = (await freePlaces(first)) - KEPT; left > 0; left -= AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, left) }, () => stage.postgres.client());
      taken.push(...(await Promise.all(some)));
    }
  };
  await spoilFor(stage, {
    code: 'F7',
    what: 'connections',
    victim: 'postgres',
    forMs: between(...TAKEN_MS, random),
    async spoil() {
      try {
        await take();
        // Processes lose their connections, and the free ones are taken before they reconnect.
        for (const name of await productLogins(taken[0])) {
          await throwOut(taken[0], name);
          await take();
        }
      } catch {
        // The product was faster this time, and no connection is left for us.
      }
    },
    mend: () => endAll(taken),
  });
}

async function freePlaces(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ free: number }>(
    `SELECT current_setting('max_connections')::int -
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender'))::int AS free`,
  );
  return rows[0]?.free ?? 0;
}

/** Returns the login names of the processes. Each has one of its own. */
async function productLogins(client: pg.Client | undefined): Promise<string[]> {
  const found = await client?.query<{ name: string }>(
    `SELECT DISTINCT usename AS name FROM pg_stat_activity WHERE usename <> current_user AND usename IS NOT NULL`,
  );
  return found?.rows.map(({ name }) => name) ?? [];
}

async function throwOut(client: pg.Client | undefined, name: string): Promise<void> {
  await client?.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [name]);
}

async function endAll(clients: pg.Client[]): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
}

const HOT_ROWS = [
  'SELECT 1 FROM beckon.ingest_queue_state FOR UPDATE',
  'SELECT 1 FROM beckon.project_lock FOR UPDATE',
  'SELECT 1 FROM beckon.send_lock FOR UPDATE',
  'SELECT 1 FROM beckon.project_timer FOR UPDATE',
  'SELECT 1 FROM beckon.webhook_health FOR UPDATE',
];
const HELD_MS: [number, number] = [10_000, 60_000];
const LOCK_WITHIN = `SET lock_timeout = '10s'`;

/** Holds row locks for longer than any process waits. */
async function holdRows(stage: Stage, random: Random): Promise<void> {
  const statement = pick(HOT_ROWS, random);
  const clients: pg.Client[] = [];
  await spoilFor(stage, {
    code: 'F7',
    what: statement,
    victim: 'postgres',
    forMs: between(...HELD_MS, random),
    async spoil() {
      const client = await stage.postgres.client();
      clients.push(client);
      await client.query(LOCK_WITHIN);
      await client.query('BEGIN');
      // If other transactions always win, no lock is available and nothing is held.
      await client.query(statement).catch(() => {});
    },
    mend: () => endAll(clients),
  });
}

const CIRCLES = 15;
const CIRCLE_MS = 300;

/**
 * Causes deadlocks. The product locks ingest queues in project order. This transaction locks a later one, waits until others wait for it,
 * and then requests an earlier one. The database aborts one of the two, often the other one.
 */
async function lockInCircles(stage: Stage, random: Random): Promise<void> {
  const clients: pg.Client[] = [];
  await spoilFor(stage, {
    code: 'F7',
    what: 'deadlocks',
    victim: 'postgres',
    forMs: 0,
    async spoil() {
      const client = await stage.postgres.client();
      clients.push(client);
      const { rows } = await client.query<{ id: string }>(
        'SELECT project_id AS id FROM beckon.ingest_queue_state ORDER BY 1',
      );
      const ids = rows.map(({ id }) => id);
      for (let n = 0; n < CIRCLES && stage.goesOn() && ids.length > 1; n += 1) {
        const behind = between(1, ids.length - 1, random);
        await circle(client, ids.slice(0, behind), ids[behind] ?? '');
        await pause(between(0, CIRCLE_MS, random));
      }
    },
    mend: () => endAll(clients),
  });
}

async function circle(client: pg.Client, inFront: string[], behind: string): Promise<void> {
  const lock = 'SELECT 1 FROM beckon.ingest_queue_state WHERE project_id = ANY ($1::bigint[]) FOR UPDATE';
  try {
    await client.query('BEGIN');
    await client.query(lock, [[behind]]);
    await pause(CIRCLE_MS);
    await client.query(lock, [inFront]);
  } catch {
    // This time our transaction was aborted.
  } finally {
    await client.query('ROLLBACK').catch(() => {});
  }
}

const FULL_MS: [number, number] = [3_000, 10_000];

/**
 * Fills the disk. PostgreSQL refuses writes that need space, and stops if its log cannot grow. After space is freed, it is restarted if it
 * is down.
 */
async function fill(stage: Stage, random: Random): Promise<void> {
  const { dataDir } = stage.postgres;
  const isOwn = await isOwnDisk(dataDir);
  let free = (): Promise<void> => Promise.resolve();
  await spoilFor(stage, {
    code: 'F7',
    what: isOwn ? 'disk full' : 'disk full: left out, for PostgreSQL has no disk of its own here',
    victim: 'postgres',
    forMs: isOwn ? between(...FULL_MS, random) : 0,
    async spoil() {
      if (isOwn) free = await fillDisk(dataDir);
    },
    async mend() {
      await free();
      if (isOwn) await bringBack(stage);
    },
  });
}

const BY_ITSELF_MS = 5_000;

async function bringBack(stage: Stage): Promise<void> {
  for (const until = Date.now() + BY_ITSELF_MS; Date.now() < until; await pause(200)) {
    const client = await stage.postgres.client().catch(() => null);
    if (!client) continue;
    await client.end();
    return;
  }
  await stage.postgres.stopImmediately();
  await stage.postgres.start();
}

/** SQLSTATE codes: could not serialize, deadlock, disk full, out of memory, canceled by an operator. */
const STATES = ['40001', '40P01', '53100', '53200', '57014'];
const TABLES = [
  'ingest_queue',
  'person',
  'event',
  'draft',
  'email',
  'webhook_delivery',
  'webhook_attempt',
  'idempotency',
];
const FAILED_MS: [number, number] = [3_000, 12_000];
const SHARE = 0.1;

/** Makes one in ten write statements to a table fail. */
async function failStatements(stage: Stage, random: Random): Promise<void> {
  const [state, table] = [pick(STATES, random), pick(TABLES, random)];
  await spoilFor(stage, {
    code: 'F7',
    what: `${state} at ${table}`,
    victim: 'postgres',
    forMs: between(...FAILED_MS, random),
    spoil: () => insist(() => asked(stage, failing(table, state))),
    mend: () => insist(() => asked(stage, `DROP FUNCTION IF EXISTS beckon.fails_by_chance CASCADE`)),
  });
}

function failing(table: string, state: string): string {
  return `SET lock_timeout = '5s';
    CREATE FUNCTION beckon.fails_by_chance() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF random() < ${SHARE} THEN RAISE EXCEPTION 'refused by chance' USING ERRCODE = '${state}'; END IF;
      RETURN NULL; END $$;
    CREATE TRIGGER fails_by_chance BEFORE INSERT OR UPDATE ON beckon.${table} FOR EACH STATEMENT EXECUTE FUNCTION beckon.fails_by_chance()`;
}

async function asked(stage: Stage, text: string): Promise<void> {
  const client = await stage.postgres.client();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

const MENDED_WITHIN_MS = 60_000;

/** Retries until it succeeds: otherwise the fault would stay in the database. */
async function insist(work: () => Promise<void>): Promise<void> {
  for (const until = Date.now() + MENDED_WITHIN_MS; ;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > until) throw error;
      await pause(500);
    }
  }
}
