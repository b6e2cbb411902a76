import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestDatabase, testDatabase } from '../../../testing/factories/database.ts';
import { missingPgbouncer, startPgbouncer } from '../../../testing/servers/pgbouncer.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { type Database, openDatabase } from './database.ts';

/** Observes the other connections, and runs none of their statements. */
const watcher = await openTestDatabase(systemClock);
const [{ name }] = (await watcher.query<{ name: string }>('SELECT current_database() AS name')) as [
  { name: string },
];
const testDb = await testDatabase('empty');
afterAll(() => testDb.drop());

/** Long enough to open a connection on a busy machine. */
const WITHIN_MS = 2_000;
const LONG = 'SELECT pg_sleep(60) AS long_statement';
const open = (url: string, namedStatements = true): Promise<Database> =>
  openDatabase({
    connection: () => ({ connectionString: url }),
    clock: systemClock,
    log: silentLog,
    namedStatements,
    statementWithinMs: WITHIN_MS,
  });

const database = new URL(testDb.url).pathname.slice(1);
async function countRunning(): Promise<number> {
  const [row] = await watcher.query<{ running: number }>(
    `SELECT count(*)::int AS running FROM pg_stat_activity
     WHERE datname = $1 AND state = 'active' AND query LIKE '%long_statement%'`,
    [database],
  );
  return row?.running ?? 0;
}
const until = async (running: number): Promise<void> => {
  while ((await countRunning()) !== running);
};

async function codesOf(queries: Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(queries);
  return settled.map((result) =>
    result.status === 'rejected' ? (result.reason as { code?: unknown }).code : 'answered',
  );
}

describe('statement timeout', () => {
  const missing = missingPgbouncer();
  let pooler: Awaited<ReturnType<typeof startPgbouncer>> | null = null;
  beforeAll(async () => {
    pooler = missing === null ? await startPgbouncer(testDb.url, { poolSize: 8 }) : null;
  });
  afterAll(() => pooler?.stop());

  test('cancels statements that the client gives up in the database too', async () => {
    const db = await open(testDb.url);
    const long = [db.query(LONG), db.query(LONG), db.query(LONG)];
    expect(await codesOf(long)).toEqual(['57014', '57014', '57014']);
    await until(0);
    await db.close();
  });

  test('applies to transactions and to dashboard requests', async () => {
    const db = await open(testDb.url);
    const long = [
      db.transaction((tx) => tx.query(LONG)),
      db.forPages({ cost: 'light' }).query(LONG),
      db.forPages({ cost: 'heavy' }).transaction((tx) => tx.query(LONG)),
    ];
    expect(await codesOf(long)).toEqual(['57014', '57014', '57014']);
    await until(0);
    await db.close();
  });

  test.skipIf(missing !== null)('applies behind a pooler, which rejects startup options', async () => {
    const pooled = pooler?.through(testDb.url) ?? '';
    const db = await open(pooled, false);
    const long = [
      db.query(LONG),
      db.transaction((tx) => tx.query(LONG)),
      db.forPages({ cost: 'heavy' }).query(LONG),
    ];
    expect(await codesOf(long)).toEqual(['57014', '57014', '57014']);
    await until(0);
    await db.close();
  });

  test.skipIf(missing !== null)('names the setting if a pooler was not declared', async () => {
    await expect(open(pooler?.through(testDb.url) ?? '')).rejects.toThrow('Set DATABASE_POOLER=transaction');
  });
});

describe('dashboard requests', () => {
  const patient = (): Promise<Database> =>
    openDatabase({
      connection: testDb.connection,
      clock: systemClock,
      log: silentLog,
      statementWithinMs: 60_000,
    });

  test('cancel their statements when they end, and never reuse their connections', async () => {
    const db = await patient();
    const ended = new AbortController();
    const pages = db.forPages({ cost: 'heavy', signal: ended.signal });
    const session = await pages.session();
    await session.script('BEGIN');
    const queries = [pages.query(LONG), pages.transaction((tx) => tx.query(LONG)), session.query(LONG)];
    const settled = Promise.allSettled(queries);
    await until(3);
    ended.abort(new Error('the client left'));
    const results = await settled;
    expect(results.map((result) => result.status === 'rejected' && (result.reason as Error).message)).toEqual(
      Array.from({ length: 3 }, () => 'the client left'),
    );
    session.release();
    await until(0);
    await expect(pages.query('SELECT 1')).rejects.toThrow('the client left');
    expect(db.pools().find((pool) => pool.name === 'dashboard_heavy')).toMatchObject({ total: 0 });
    await db.close();
  });

  test('do not cancel a transaction during its commit', async () => {
    const db = await patient();
    await db.query('CREATE TABLE kept (n int)');
    // A deferred constraint takes about a second at COMMIT, during which the request ends.
    await db.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$`);
    await db.query(`CREATE CONSTRAINT TRIGGER late AFTER INSERT ON kept DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION slow()`);
    const ended = new AbortController();
    const holder = await db.session();
    await holder.script('BEGIN; SELECT pg_advisory_xact_lock(7)');
    const written = db
      .forPages({ cost: 'light', signal: ended.signal })
      .transaction((tx) => tx.query('INSERT INTO kept VALUES (1)'));
    const atCommit = async (): Promise<boolean> => {
      const rows = await watcher.query(
        `SELECT FROM pg_stat_activity WHERE datname = $1 AND query = 'COMMIT' AND wait_event_type = 'Lock'`,
        [database],
      );
      return rows.length > 0;
    };
    while (!(await atCommit()));
    ended.abort(new Error('the client left'));
    await holder.script('COMMIT');
    holder.release();
    await written;
    expect(await db.query('SELECT n FROM kept')).toEqual([{ n: 1 }]);
    await db.close();
  });

  test('do not use the connections of background work, regardless of how many wait', async () => {
    const db = await patient();
    const ended = new AbortController();
    const queries = Array.from({ length: 60 }, (_, n) =>
      db.forPages({ cost: n % 2 ? 'light' : 'heavy', signal: ended.signal }).query(LONG),
    );
    const settled = Promise.allSettled(queries);
    await until(10);
    expect(await db.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const session = await db.session();
    expect(await session.query('SELECT 2 AS two')).toEqual([{ two: 2 }]);
    session.release();
    ended.abort(new Error('the client left'));
    await settled;
    await until(0);
    await db.close();
  });

  test('wait for a turn for each connection, but not while they have an open transaction', async () => {
    const db = await patient();
    const slotEvents: string[] = [];
    const takeSlot = (): Promise<() => void> => {
      slotEvents.push('begun');
      return Promise.resolve(() => void slotEvents.push('ended'));
    };
    const pages = db.forPages({ cost: 'light', takeSlot });
    await Promise.all([pages.query('SELECT 1'), pages.query('SELECT 2')]);
    expect(slotEvents.splice(0)).toEqual(['begun', 'begun', 'ended', 'ended']);
    await pages.transaction(async () => {
      await pages.query('SELECT 3');
      expect(slotEvents).toEqual(['begun']);
    });
    const session = await pages.session();
    await pages.query('SELECT 4');
    session.release();
    await pages.query('SELECT 5');
    expect(slotEvents).toEqual(['begun', 'ended', 'begun', 'ended', 'begun', 'ended']);
    await db.close();
  });

  test('use the clock of a project with a test clock', async () => {
    const db = await patient();
    const { databaseAhead: movedAhead } = await import('./database.ts');
    const ahead = movedAhead(db, 5_000).forPages({ cost: 'light' });
    const [before, moved, after] = [db.clock.now(), ahead.clock.now(), db.clock.now()];
    expect(ahead.aheadMs).toBe(5_000);
    expect(moved).toBeGreaterThanOrEqual(before + 5_000);
    expect(moved).toBeLessThanOrEqual(after + 5_000);
    await db.close();
  });
});

test('observes from a separate database', () => {
  expect(name).not.toBe(database);
});
