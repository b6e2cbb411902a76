import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Fault, Stage } from '../fault.ts';
import { between, pick, type Random } from '../random.ts';
import { injectFor } from './hold.ts';
import { fillDisk, isOwnDisk } from './own-disk.ts';

/** Database failures in which the product must answer 5xx, leave nothing half done, and recover automatically. */
export const DATABASE_FAULTS: Fault[] = [
  { code: 'F7', name: 'no connection is free', weight: 0.8, run: takeConnections },
  { code: 'F7', name: 'a hot row is locked', weight: 0.4, run: holdRows },
  { code: 'F7', name: 'deadlocks', weight: 0.8, run: causeDeadlocks },
  { code: 'F7', name: 'statements fail by chance', weight: 0.8, run: failStatements },
  { code: 'F7', name: 'the disk is full', weight: 0.6, run: fillDiskForAWhile },
];

/** The number of connections left. PostgreSQL reserves three of them for superusers, and the product takes the others at once. */
const CONNECTIONS_LEFT = 8;
const AT_ONCE = 20;
const OCCUPIED_MS: [number, number] = [3_000, 8_000];

async function takeConnections(stage: Stage, random: Random): Promise<void> {
  const clients: pg.Client[] = [];
  const occupyFree = async (): Promise<void> => {
    const first = await stage.postgres.client();
    clients.push(first);
    for (let left = (await freeConnections(first)) - CONNECTIONS_LEFT; left > 0; left -= AT_ONCE) {
      const batch = Array.from({ length: Math.min(AT_ONCE, left) }, () => stage.postgres.client());
      clients.push(...(await Promise.all(batch)));
    }
  };
  await injectFor(stage, {
    code: 'F7',
    detail: 'connections',
    victim: 'postgres',
    forMs: between(...OCCUPIED_MS, random),
    async inject() {
      try {
        await occupyFree();
        // Processes lose their connections, and the free ones are taken before they reconnect.
        for (const name of await productLogins(clients[0])) {
          await terminateBackends(clients[0], name);
          await occupyFree();
        }
      } catch {
        // The product was faster this time, and no connection is free for us.
      }
    },
    restore: () => closeAll(clients),
  });
}

async function freeConnections(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ free: number }>(
    `SELECT current_setting('max_connections')::int -
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender'))::int AS free`,
  );
  return rows[0]?.free ?? 0;
}

/** Returns the login names of the processes. Each has one of its own. */
async function productLogins(client: pg.Client | undefined): Promise<string[]> {
  const result = await client?.query<{ name: string }>(
    `SELECT DISTINCT usename AS name FROM pg_stat_activity WHERE usename <> current_user AND usename IS NOT NULL`,
  );
  return result?.rows.map(({ name }) => name) ?? [];
}

async function terminateBackends(client: pg.Client | undefined, name: string): Promise<void> {
  await client?.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [name]);
}

async function closeAll(clients: pg.Client[]): Promise<void> {
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
  await injectFor(stage, {
    code: 'F7',
    detail: statement,
    victim: 'postgres',
    forMs: between(...HELD_MS, random),
    async inject() {
      const client = await stage.postgres.client();
      clients.push(client);
      await client.query(LOCK_WITHIN);
      await client.query('BEGIN');
      // If other transactions always win, no lock is available and nothing is held.
      await client.query(statement).catch(() => {});
    },
    restore: () => closeAll(clients),
  });
}

const DEADLOCK_ROUNDS = 15;
const DEADLOCK_WAIT_MS = 300;

/**
 * Causes deadlocks. The product locks ingest queues in project order. This transaction locks a later one, waits until others wait for it,
 * and then requests an earlier one. The database aborts one of the two, often the other one.
 */
async function causeDeadlocks(stage: Stage, random: Random): Promise<void> {
  const clients: pg.Client[] = [];
  await injectFor(stage, {
    code: 'F7',
    detail: 'deadlocks',
    victim: 'postgres',
    forMs: 0,
    async inject() {
      const client = await stage.postgres.client();
      clients.push(client);
      const { rows } = await client.query<{ id: string }>(
        'SELECT project_id AS id FROM beckon.ingest_queue_state ORDER BY 1',
      );
      const ids = rows.map(({ id }) => id);
      for (let n = 0; n < DEADLOCK_ROUNDS && stage.isRunning() && ids.length > 1; n += 1) {
        const later = between(1, ids.length - 1, random);
        await lockOutOfOrder(client, ids.slice(0, later), ids[later] ?? '');
        await pause(between(0, DEADLOCK_WAIT_MS, random));
      }
    },
    restore: () => closeAll(clients),
  });
}

async function lockOutOfOrder(client: pg.Client, earlier: string[], later: string): Promise<void> {
  const lock = 'SELECT 1 FROM beckon.ingest_queue_state WHERE project_id = ANY ($1::bigint[]) FOR UPDATE';
  try {
    await client.query('BEGIN');
    await client.query(lock, [[later]]);
    await pause(DEADLOCK_WAIT_MS);
    await client.query(lock, [earlier]);
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
async function fillDiskForAWhile(stage: Stage, random: Random): Promise<void> {
  const { dataDir } = stage.postgres;
  const isOwn = await isOwnDisk(dataDir);
  let free = (): Promise<void> => Promise.resolve();
  await injectFor(stage, {
    code: 'F7',
    detail: isOwn ? 'disk full' : 'disk full: skipped, because PostgreSQL shares its disk',
    victim: 'postgres',
    forMs: isOwn ? between(...FULL_MS, random) : 0,
    async inject() {
      if (isOwn) free = await fillDisk(dataDir);
    },
    async restore() {
      await free();
      if (isOwn) await ensureRunning(stage);
    },
  });
}

const RESTART_WAIT_MS = 5_000;

async function ensureRunning(stage: Stage): Promise<void> {
  for (const until = Date.now() + RESTART_WAIT_MS; Date.now() < until; await pause(200)) {
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
  await injectFor(stage, {
    code: 'F7',
    detail: `${state} at ${table}`,
    victim: 'postgres',
    forMs: between(...FAILED_MS, random),
    inject: () => retry(() => execute(stage, failingTrigger(table, state))),
    restore: () => retry(() => execute(stage, `DROP FUNCTION IF EXISTS beckon.fails_by_chance CASCADE`)),
  });
}

function failingTrigger(table: string, state: string): string {
  return `SET lock_timeout = '5s';
    CREATE FUNCTION beckon.fails_by_chance() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF random() < ${SHARE} THEN RAISE EXCEPTION 'refused by chance' USING ERRCODE = '${state}'; END IF;
      RETURN NULL; END $$;
    CREATE TRIGGER fails_by_chance BEFORE INSERT OR UPDATE ON beckon.${table} FOR EACH STATEMENT EXECUTE FUNCTION beckon.fails_by_chance()`;
}

async function execute(stage: Stage, text: string): Promise<void> {
  const client = await stage.postgres.client();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

const RESTORE_TIMEOUT_MS = 60_000;

/** Retries until it succeeds: otherwise the fault would stay in the database. */
async function retry(work: () => Promise<void>): Promise<void> {
  for (const until = Date.now() + RESTORE_TIMEOUT_MS; ;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > until) throw error;
      await pause(500);
    }
  }
}
