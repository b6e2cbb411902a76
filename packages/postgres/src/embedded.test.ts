import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFacts } from './facts.ts';
import {
  clusterOf,
  isResponding,
  queryEmbedded,
  livingPostmaster,
  makeTestDirectory,
  soon,
} from '../testkit/directory.ts';
import type { TestDirectory } from '../testkit/directory.ts';

let at: TestDirectory;
beforeEach(async () => {
  at = await makeTestDirectory();
});
afterEach(() => at.clear(), 60_000);

test('creates a durable database in an empty directory', async () => {
  const embedded = await at.open();
  const settings = await queryEmbedded<{ name: string; setting: string }>(
    embedded,
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'max_connections',
      'server_encoding', 'listen_addresses', 'unix_socket_directories', 'jit', 'wal_compression', 'max_wal_size', 'data_checksums',
      'client_connection_check_interval')`,
  );
  expect(Object.fromEntries(settings.map((row) => [row.name, row.setting]))).toEqual({
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    max_connections: '200',
    server_encoding: 'UTF8',
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    jit: 'off',
    wal_compression: expect.stringMatching(/^(lz4|off)$/),
    max_wal_size: '4096',
    data_checksums: 'on',
    client_connection_check_interval: '1000',
  });
  expect(await queryEmbedded(embedded, 'SELECT current_database() AS name')).toEqual([{ name: 'lantern' }]);
  await embedded.release();
  expect(await livingPostmaster(at.dataDir)).toBeUndefined();
});

test('stores the password in a file that only its owner can read, in a folder that only its owner can list', async () => {
  await at.open();
  expect(statSync(join(at.dataDir, 'postgres.json')).mode & 0o777).toBe(0o600);
  expect(statSync(join(at.dataDir, 'postgres.log')).mode & 0o777).toBe(0o600);
  expect(statSync(at.dataDir).mode & 0o066).toBe(0);
});

test('rejects a connection without the password', async () => {
  const embedded = await at.open();
  const wrong = { ...embedded, connection: () => ({ ...embedded.connection(), password: 'guessed' }) };
  await expect(queryEmbedded(wrong, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
});

test('has the same data on the same port after a restart', async () => {
  const first = await at.open();
  await queryEmbedded(first, 'CREATE TABLE kept AS SELECT 7 AS n');
  const { port } = first.connection();
  await first.release();
  const second = await at.open();
  expect(second.connection().port).toBe(port);
  expect(await queryEmbedded(second, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
});

test('replaces a port that another process took', async () => {
  const first = await at.open();
  const { port } = first.connection();
  await first.release();
  const squatter = createServer().listen(port, '127.0.0.1');
  await once(squatter, 'listening');
  const second = await at.open();
  expect(second.connection().port).not.toBe(port);
  expect(await isResponding(second)).toBe(true);
  expect(readFacts(at.dataDir)?.port).toBe(second.connection().port);
  squatter.close();
});

test('adopts the same postmaster after kill -9 of its process', async () => {
  const user = await at.startUser();
  expect(await user.say('server')).toBe('done server');
  const postmaster = await livingPostmaster(at.dataDir);
  user.signalGroup('SIGKILL');
  await user.ended;
  const embedded = await at.open();
  expect(await livingPostmaster(at.dataDir)).toBe(postmaster);
  await embedded.becomeServer();
  expect(await isResponding(embedded)).toBe(true);
});

test('refuses a second server, and names the directory and the first server', async () => {
  const user = await at.startUser();
  await user.say('server');
  const second = await at.open();
  const refusal = expect(second.becomeServer()).rejects;
  await refusal.toMatchObject({
    code: 'another_server',
    message: `Another Lantern server (process ${user.pid}) runs on ${at.dataDir}`,
  });
  await second.release();
  expect(await user.say('ping')).toBe('done ping');
  expect(await livingPostmaster(at.dataDir)).toBeDefined();
});

test('concurrent first starts create one database and share it', async () => {
  const [first, ...users] = await Promise.all([at.open(), at.startUser(), at.startUser()]);
  const other = await at.open();
  expect(await queryEmbedded(first, `SELECT pg_postmaster_start_time() AS t`)).toEqual(
    await queryEmbedded(other, `SELECT pg_postmaster_start_time() AS t`),
  );
  expect(await Promise.all(users.map((user) => user.say('ping')))).toEqual(['done ping', 'done ping']);
  const names = (await readdir(at.dataDir)).toSorted();
  expect(names).toEqual(['postgres', 'postgres.json', 'postgres.log']);
});

test('a command without a server starts PostgreSQL and stops it', async () => {
  const user = await at.startUser();
  expect(await livingPostmaster(at.dataDir)).toBeDefined();
  expect(await user.say('release')).toBe('done release');
  expect(await livingPostmaster(at.dataDir)).toBeUndefined();
});

test('a command does not stop the PostgreSQL of the server, nor the server that of a command', async () => {
  const server = await at.open();
  await server.becomeServer();
  const first = await at.startUser();
  await first.say('release');
  expect(await isResponding(server)).toBe(true);
  const second = await at.startUser();
  await server.release();
  expect(await livingPostmaster(at.dataDir)).toBeDefined();
  await second.say('release');
  expect(await livingPostmaster(at.dataDir)).toBeUndefined();
});

test('stops PostgreSQL when the last of many users leaves', async () => {
  const all = await Promise.all([at.open(), at.open(), at.open(), at.open(), at.open()]);
  await Promise.all(all.map((embedded) => embedded.release()));
  expect(await livingPostmaster(at.dataDir)).toBeUndefined();
});

test('restarts PostgreSQL for a user that arrives during the stop', async () => {
  const cycle = async (): Promise<void> => {
    for (let round = 0; round < 8; round += 1) {
      const embedded = await at.open();
      expect(await queryEmbedded(embedded, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
      await embedded.release();
    }
  };
  await Promise.all([cycle(), cycle(), cycle()]);
  expect(await livingPostmaster(at.dataDir)).toBeUndefined();
}, 60_000);

test('Ctrl-C reaches the program but not PostgreSQL, which stops on release', async () => {
  const user = await at.startUser();
  const postmaster = await livingPostmaster(at.dataDir);
  user.signalGroup('SIGINT');
  expect(await user.hear()).toBe('interrupted');
  user.signalGroup('SIGINT');
  expect(await user.hear()).toBe('interrupted');
  expect(await livingPostmaster(at.dataDir)).toBe(postmaster);
  const observer = await at.open();
  expect(await isResponding(observer)).toBe(true);
  await observer.release();
  expect(await livingPostmaster(at.dataDir)).toBe(postmaster);
  await user.say('release');
  await user.ended;
  expect(await livingPostmaster(at.dataDir)).toBeUndefined();
});

test('starts despite a postmaster.pid left by a host that crashed', async () => {
  const first = await at.open();
  const file = readFileSync(join(clusterOf(at.dataDir), 'postmaster.pid'), 'utf8');
  await first.release();
  const deadProcess = spawn(process.execPath, ['-e', '']);
  await once(deadProcess, 'close');
  writeFileSync(join(clusterOf(at.dataDir), 'postmaster.pid'), file.replace(/^\d+/, String(deadProcess.pid)));
  expect(await isResponding(await at.open())).toBe(true);
});

test('starts despite a postmaster.pid whose pid now belongs to another process', async () => {
  const first = await at.open();
  const file = readFileSync(join(clusterOf(at.dataDir), 'postmaster.pid'), 'utf8');
  await first.release();
  // Runs as PostgreSQL's own account, because PostgreSQL refuses to start only for such a process. The pid is that of a running unrelated
  // process.
  const { uid, gid } = statSync(clusterOf(at.dataDir));
  const stranger = spawn('sleep', ['600'], { uid, gid });
  writeFileSync(join(clusterOf(at.dataDir), 'postmaster.pid'), file.replace(/^\d+/, String(stranger.pid)));
  expect(await isResponding(await at.open())).toBe(true);
  expect(stranger.exitCode).toBeNull();
  stranger.kill();
});

test('starts despite an empty postmaster.pid left by a power failure', async () => {
  await (await at.open()).release();
  writeFileSync(join(clusterOf(at.dataDir), 'postmaster.pid'), '');
  expect(await isResponding(await at.open())).toBe(true);
}, 30_000);

test('a copied directory does not adopt the postmaster of the original', async () => {
  const original = await at.open();
  await queryEmbedded(original, 'CREATE TABLE original ()');
  const copy = await makeTestDirectory();
  try {
    await soon(() => isResponding(original));
    const { cp } = await import('node:fs/promises');
    await cp(at.dataDir, copy.dataDir, { recursive: true });
    const opened = await copy.open();
    expect(opened.connection().port).not.toBe(original.connection().port);
    expect(await queryEmbedded(opened, `SHOW data_directory`)).toEqual([
      { data_directory: clusterOf(copy.dataDir) },
    ]);
    expect(await isResponding(original)).toBe(true);
  } finally {
    await copy.clear();
  }
});

test('reports a missing database instead of creating an empty one', async () => {
  await (await at.open()).release();
  const { rename } = await import('node:fs/promises');
  await rename(clusterOf(at.dataDir), join(at.dataDir, 'elsewhere'));
  await expect(at.open()).rejects.toMatchObject({ code: 'data_missing' });
  await rename(join(at.dataDir, 'elsewhere'), clusterOf(at.dataDir));
  expect(await isResponding(await at.open())).toBe(true);
});

test('reports a missing password file', async () => {
  await (await at.open()).release();
  const { rename } = await import('node:fs/promises');
  await rename(join(at.dataDir, 'postgres.json'), join(at.dataDir, 'aside'));
  await expect(at.open()).rejects.toMatchObject({ code: 'not_known' });
});

test('reports why PostgreSQL does not start, in its own words', async () => {
  await (await at.open()).release();
  writeFileSync(join(clusterOf(at.dataDir), 'postgresql.auto.conf'), "shared_buffers = 'nonsense'\n");
  await expect(at.open()).rejects.toMatchObject({
    code: 'cannot_start',
    message: expect.stringContaining('invalid value for parameter "shared_buffers"'),
  });
});
