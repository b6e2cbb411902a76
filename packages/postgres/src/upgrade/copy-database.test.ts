import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryEmbedded, makeTestDirectory, soon, type TestDirectory } from '../../testkit/directory.ts';
import { copyTable } from './copy-database.ts';

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeTestDirectory();
}, 60_000);
afterAll(() => directory.clear(), 60_000);

test('a copy into a PostgreSQL that dies fails, even while the source waits for it', async () => {
  const embedded = await directory.open();
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(embedded.connection());
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const [from, to] = [await connect(), await connect()];
  // The target reads the first row, and nothing more.
  await from.query(`
    CREATE TEMPORARY TABLE email AS SELECT repeat('x', 1000000) AS mime FROM generate_series(1, 64)`);
  await to.query(`
    CREATE TEMPORARY TABLE email (mime text);
    CREATE FUNCTION pg_temp.wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END';
    CREATE TRIGGER wait BEFORE INSERT ON email FOR EACH ROW EXECUTE FUNCTION pg_temp.wait()`);
  const { rows } = await to.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const failed = expect(copyTable({ from, to }, { table: 'email', columns: 'mime' })).rejects.toThrow();
  await soon(() =>
    (from as unknown as { connection: { stream: pg.Connection['stream'] } }).connection.stream.isPaused(),
  );
  await queryEmbedded(embedded, `SELECT pg_terminate_backend(${rows[0]?.pid})`);
  await failed;
  await Promise.all([from.end(), to.end()]);
});
