import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../testkit/silent-log.ts';
import { boundLog } from './start-postmaster.ts';
import { readPidFile } from './postmaster.ts';
import {
  isResponding,
  queryEmbedded,
  clusterOf,
  livingPostmaster,
  makeTestDirectory,
  soon,
  type TestDirectory,
} from '../testkit/directory.ts';
import { type Embedded, watchPostmaster } from './embedded.ts';

let at: TestDirectory;
beforeEach(async () => {
  at = await makeTestDirectory();
});
afterEach(() => at.clear(), 60_000);

async function postmasterOf(directory: TestDirectory): Promise<number> {
  const pid = await livingPostmaster(directory.dataDir);
  if (pid === undefined) throw new Error('no postmaster lives');
  return pid;
}

function holders(embedded: Embedded): Promise<{ holds: number }[]> {
  return queryEmbedded<{ holds: number }>(
    embedded,
    `SELECT count(*)::int AS holds FROM pg_locks WHERE locktype = 'advisory' AND granted`,
  );
}

test('restarts a killed postmaster while the server runs, with all committed data and both locks', async () => {
  const server = await at.open();
  await server.becomeServer();
  await queryEmbedded(server, 'CREATE TABLE kept AS SELECT 7 AS n');
  for (let round = 0; round < 3; round += 1) {
    const before = await postmasterOf(at);
    process.kill(before, 'SIGKILL');
    await soon(async () => (await isResponding(server)) && (await postmasterOf(at)) !== before);
    expect(await queryEmbedded(server, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await soon(async () => (await holders(server).catch(() => []))[0]?.holds === 2);
  }
  const second = await at.startUser();
  expect(await second.say('server')).toContain('another_server');
}, 60_000);

test('also restarts a killed postmaster that the server had only adopted', async () => {
  const first = await at.startUser();
  await first.say('server');
  const before = await postmasterOf(at);
  first.signalGroup('SIGKILL');
  await first.ended;
  const server = await at.open();
  await server.becomeServer();
  process.kill(before, 'SIGKILL');
  await soon(async () => (await isResponding(server)) && (await postmasterOf(at)) !== before);
});

test('survives the crash of one session, after which PostgreSQL disconnects all others', async () => {
  const server = await at.open();
  await server.becomeServer();
  const before = await postmasterOf(at);
  const client = new pg.Client(server.connection());
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
  await soon(async () => (await holders(server).catch(() => []))[0]?.holds === 2);
  expect(await postmasterOf(at)).toBe(before);
});

test('a session of the dead postmaster that is still busy delays the restart but does not prevent it', async () => {
  let contended = 0;
  const debug = (_fields: object, event: string): void =>
    void (event === 'postgres.start_contended' && (contended += 1));
  const server = await at.open({ ...silentLog, debug });
  await server.becomeServer();
  const client = new pg.Client(server.connection());
  client.on('error', () => {});
  await client.connect();
  // While it sleeps inside the C library, it does not notice the death of its postmaster.
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const backend = rows[0]?.pid ?? 0;
  process.kill(backend, 'SIGSTOP');
  const before = await postmasterOf(at);
  process.kill(before, 'SIGKILL');
  await soon(() => contended > 0);
  process.kill(backend, 'SIGCONT');
  await soon(async () => (await isResponding(server)) && (await postmasterOf(at)) !== before);
});

test('acquires its locks again after only the lock connection is cut', async () => {
  const server = await at.open();
  await server.becomeServer();
  await queryEmbedded(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lantern hold%'`,
  );
  await soon(async () => (await holders(server))[0]?.holds === 2);
  const second = await at.startUser();
  expect(await second.say('server')).toContain('another_server');
});

test('only the server restarts a dead postmaster; a command waits for it and keeps its share', async () => {
  const command = await at.open();
  const before = await postmasterOf(at);
  process.kill(before, 'SIGKILL');
  await soon(async () => !(await isResponding(command)));
  expect(await livingPostmaster(at.dataDir)).toBeUndefined();
  const server = await at.startUser();
  await server.say('server');
  await soon(async () => (await holders(command))[0]?.holds === 3);
  expect(await server.say('release')).toBe('done release');
  expect(await isResponding(command)).toBe(true);
});

test('a server that is released while its postmaster is dead leaves no process running', async () => {
  const server = await at.open();
  await server.becomeServer();
  process.kill(await postmasterOf(at), 'SIGKILL');
  await server.release();
  await soon(async () => (await livingPostmaster(at.dataDir)) === undefined);
});

test('a lone SIGTERM, after which PostgreSQL waits for its last client, does not lock out new clients for long', async () => {
  const server = await at.open();
  await server.becomeServer();
  const pid = await postmasterOf(at);
  const hold = { file: readPidFile(clusterOf(at.dataDir)), isLost: () => false, drop: () => {} };
  const ending = new AbortController();
  const home = { dataDir: at.dataDir, data: clusterOf(at.dataDir), log: silentLog };
  watchPostmaster(home as never, { hold: () => hold as never, signal: ending.signal, everyMs: 20 });
  process.kill(pid, 'SIGTERM');
  await soon(async () => (await isResponding(server)) && (await postmasterOf(at)) !== pid);
  ending.abort();
});

test('truncates the log of PostgreSQL, which continues after the cut', async () => {
  const server = await at.open();
  const log = join(at.dataDir, 'postgres.log');
  appendFileSync(log, 'x'.repeat(5_000));
  await boundLog(log, 5_000);
  expect(statSync(`${log}.1`).size).toBeGreaterThan(5_000);
  await queryEmbedded(server, 'SELECT no_such_thing').catch(() => {});
  await soon(() => readFileSync(log, 'utf8').includes('no_such_thing'));
  expect(readFileSync(log, 'utf8')).not.toContain('\0');
});

test('keeps a log within its bound', async () => {
  const log = join(at.dataDir, 'postgres.log');
  writeFileSync(log, 'short');
  await boundLog(log, 5);
  expect(readFileSync(log, 'utf8')).toBe('short');
});

test('keeps user data out of the log of PostgreSQL', async () => {
  const server = await at.open();
  await queryEmbedded(server, `CREATE TABLE person (email text PRIMARY KEY)`);
  const insert = `INSERT INTO person VALUES ('ada@example.com')`;
  await queryEmbedded(server, insert);
  await expect(queryEmbedded(server, insert)).rejects.toMatchObject({ code: '23505' });
  const log = join(at.dataDir, 'postgres.log');
  await soon(() => readFileSync(log, 'utf8').includes('person_pkey'));
  expect(readFileSync(log, 'utf8')).not.toContain('ada@');
});
