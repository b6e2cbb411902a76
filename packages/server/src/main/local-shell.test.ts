import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { AuditListed, ProjectListed } from '@beckon/contract/dashboard';
import { testDatabase } from '../../testing/factories/database.ts';
import { requestOverSocket, type LocalRequestOptions } from '../../testing/servers/http-client.ts';
import { programEnv } from '../../testing/servers/program-env.ts';
import { type Supervised, superviseServer } from '../../testing/servers/supervised-server.ts';
import { listening, portOf } from './listening.ts';

/** The entry point of the server, as a container or an init system starts it. */
const MAIN = join(import.meta.dirname, 'main.ts');
const base = await mkdtemp(join(tmpdir(), 'beckon-shell-'));
// Open to others, so that only the mode of the socket keeps them out.
await chmod(base, 0o755);
const testDb = await testDatabase();
afterAll(async () => {
  await testDb.drop();
  await rm(base, { recursive: true });
});

let count = 0;
const newDataDir = (): string => join(base, String((count += 1)));
const socketIn = (dataDir: string): string => join(dataDir, 'beckon.sock');

function start(dataDir: string, more: Record<string, string> = {}): Supervised {
  const server = superviseServer({ DATA_DIR: dataDir, LOCAL_SHELL: 'on', ...more });
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  return server;
}

const withDatabase = { DATABASE_URL: testDb.url, SECRET_KEY: 'a secret of these tests, and long enough' };
const hasEvent = (event: string) => (line: { event?: string }) => line.event === `local_shell.${event}`;

async function requestShell<T>(dataDir: string, what: string, options: LocalRequestOptions = {}): Promise<T> {
  const { status, body } = await requestOverSocket(
    socketIn(dataDir),
    what.replace(' /', ' /api/dashboard/'),
    options,
  );
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return (body as { data: T }).data;
}

/** Kills it as the system would, without a chance to remove its socket. */
async function kill(server: Supervised): Promise<void> {
  server.child.kill('SIGKILL');
  await server.ended;
}

async function stop(server: Supervised): Promise<void> {
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
}

/** Returns the result of a connection from another account. */
async function connectAs(uid: number, path: string): Promise<string> {
  // The script changes its own account, because another account may not be able to read the folder of the program.
  const script = `const id = Number(process.argv[2]);
    process.setgroups([]); process.setgid(id); process.setuid(id);
    require('net').connect(process.argv[1]).on('connect', () => { console.log('connected'); process.exit() })
    .on('error', ({ code }) => { console.log(code); process.exit() })`;
  const options = { cwd: '/', env: {} };
  return (
    await promisify(execFile)(process.execPath, ['-e', script, path, String(uid)], options)
  ).stdout.trim();
}

describe('local shell of a server with nothing but a data directory', async () => {
  const dataDir = newDataDir();
  const server = superviseServer({ DATA_DIR: dataDir, LOCAL_SHELL: 'on', API_PROCESSES: '1' });
  afterAll(() => kill(server));
  const url = await server.url;

  test('creates a project without a login, and records it as the local shell', async () => {
    const { id } = await requestShell<{ id: number }>(dataDir, 'POST /projects', { body: { name: 'Acme' } });
    expect(await requestShell<ProjectListed[]>(dataDir, 'GET /projects')).toEqual([
      expect.objectContaining({ id, name: 'Acme', role: 'owner' }),
    ]);
    await requestShell(dataDir, `POST /projects/${id}/keys`, { body: { label: 'server' } });
    const log = await requestShell<AuditListed[]>(dataDir, `GET /projects/${id}/audit`);
    expect(log.map(({ action, actor_name }) => [action, actor_name])).toEqual([
      ['key.create', 'local shell'],
    ]);
  });

  test('serves the dashboard API and the liveness check, and nothing else', async () => {
    const statusOf = async (what: string): Promise<number> =>
      (await requestOverSocket(socketIn(dataDir), what)).status;
    expect(await statusOf('GET /livez')).toBe(200);
    for (const path of [
      '/',
      '/readyz',
      '/version',
      '/metrics',
      '/guide/',
      '/api/v1/events',
      '/api/dashboard',
    ])
      expect([path, await statusOf(`GET ${path}`)]).toEqual([path, 404]);
    expect(await statusOf('POST /api/v1/events')).toBe(404);
  });

  test.skipIf(process.getuid?.() !== 0)('refuses another account of the machine (needs root)', async () => {
    expect((await stat(socketIn(dataDir))).mode & 0o777).toBe(0o600);
    const nobody = 65_534;
    // They may enter the folder, so it is the socket that refuses them.
    expect((await stat(dataDir)).mode & 0o001).toBe(1);
    expect(await connectAs(nobody, socketIn(dataDir))).toBe('EACCES');
    expect(await connectAs(0, socketIn(dataDir))).toBe('connected');
  });

  test('opens nothing over TCP, whatever headers a local proxy sends', async () => {
    const target = Number(new URL(url).port);
    const proxy = createServer((client) => {
      const upstream = connect(target, '127.0.0.1');
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) socket.on('error', () => upstream.destroy());
    });
    onTestFinished(() => void proxy.close());
    await listening(proxy as never, { host: '127.0.0.1', port: 0 });
    for (const headers of [
      {},
      { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=unix:' },
      { 'x-local-shell': 'on', 'x-beckon-actor': 'local-shell', authorization: 'Bearer local-shell' },
      { cookie: 'beckon_session=local-shell' },
    ]) {
      const at = `http://127.0.0.1:${portOf(proxy as never)}/api/dashboard/projects`;
      expect([headers, (await fetch(at, { headers: { ...headers, connection: 'close' } })).status]).toEqual([
        headers,
        401,
      ]);
    }
  });

  test('refuses requests that a proxy or a browser sends to the socket', async () => {
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.7' },
      { via: '1.1 proxy' },
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { cookie: 'beckon_session=x.y' },
      { authorization: 'Bearer bkp_x' },
    ] as Record<string, string>[]) {
      const { status, body } = await requestOverSocket(socketIn(dataDir), 'GET /api/dashboard/projects', {
        headers,
      });
      expect([headers, status]).toEqual([headers, 403]);
      expect(JSON.stringify(body)).toContain('no requests from browsers or proxies');
    }
  });

  test('is in no backup and no support bundle', async () => {
    const to = join(base, 'backups');
    const env = {
      ...programEnv(),
      DATA_DIR: dataDir,
      BACKUP_DIR: to,
      BACKUP_PASSPHRASE: 'correct horse battery staple',
    };
    await promisify(execFile)(process.execPath, [MAIN, 'backup'], { env, cwd: base });
    const files = await readdir(to, { recursive: true });
    expect(files.filter((name) => name.endsWith('PG_VERSION'))).not.toEqual([]);
    expect(files.filter((name) => /sock/.test(name))).toEqual([]);
    const [project] = await requestShell<ProjectListed[]>(dataDir, 'GET /projects');
    const bundle = await requestOverSocket(
      socketIn(dataDir),
      `GET /api/dashboard/projects/${project?.id}/support-bundle`,
    );
    expect(bundle.status).toBe(200);
    expect(JSON.stringify(bundle.body)).not.toContain('sock');
    expect((await requestOverSocket(socketIn(dataDir), 'GET /livez')).status).toBe(200);
  });
}, 120_000);

describe('local shell over the life of processes', () => {
  test('is served by the API alone, and again after a restart', async () => {
    const dataDir = newDataDir();
    const worker = start(dataDir, { ...withDatabase, ROLES: 'worker' });
    await worker.url;
    await expect(stat(socketIn(dataDir))).rejects.toMatchObject({ code: 'ENOENT' });
    const api = start(dataDir, { ...withDatabase, ROLES: 'api' });
    await api.url;
    await requestShell(dataDir, 'GET /projects');
    await kill(worker);
    await requestShell(dataDir, 'GET /projects');
    await stop(api);
    expect(await readdir(dataDir)).toEqual([]);
    await start(dataDir, { ...withDatabase, ROLES: 'api' }).url;
    await requestShell(dataDir, 'GET /projects');
  });

  test('replaces the socket of a server that was killed', async () => {
    const dataDir = newDataDir();
    const killed = start(dataDir, withDatabase);
    await killed.url;
    await kill(killed);
    await expect(requestOverSocket(socketIn(dataDir), 'GET /livez')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    await start(dataDir, withDatabase).url;
    await requestShell(dataDir, 'GET /projects');
    expect(await readdir(dataDir)).toEqual(['beckon.sock']);
  });

  test('stays with the first of two servers, and passes to the second when the first stops', async () => {
    const dataDir = newDataDir();
    const first = start(dataDir, withDatabase);
    await first.url;
    const second = start(dataDir, withDatabase);
    await second.line(hasEvent('waiting'));
    expect(second.lines.filter(hasEvent('listening'))).toEqual([]);
    await requestShell(dataDir, 'GET /projects');
    await stop(first);
    await second.line(hasEvent('listening'));
    await requestShell(dataDir, 'GET /projects');
  });

  test('passes to another API process of the same server when its process is killed', async () => {
    const dataDir = newDataDir();
    const server = start(dataDir, { ...withDatabase, ROLES: 'api', API_PROCESSES: '2' });
    await server.url;
    const serving = await server.line(hasEvent('listening'));
    const started = server.lines.find(
      ({ event, process }) => event === 'process.started' && process === serving.process,
    );
    process.kill(started?.pid ?? 0, 'SIGKILL');
    // A connection to the killed process is reset. Both processes may have listened at the start, so their lines do not tell.
    await expect.poll(() => requestShell(dataDir, 'GET /projects').catch(String)).toEqual(expect.any(Array));
    expect((await stat(socketIn(dataDir))).mode & 0o777).toBe(0o600);
  });

  test('has no socket if LOCAL_SHELL is off', async () => {
    const dataDir = newDataDir();
    const server = start(dataDir, { ...withDatabase, LOCAL_SHELL: 'off' });
    await server.url;
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(server.lines.filter(({ event }) => event?.startsWith('local_shell'))).toEqual([]);
  });

  test('warns of a data directory that is too long, and starts without a socket', async () => {
    const dataDir = join(newDataDir(), 'd'.repeat(100));
    const server = start(dataDir, withDatabase);
    await server.url;
    // The warning is on the error output, which may be read after the URL.
    await expect
      .poll(() => server.output.join('\n'))
      .toMatch(/Warning: DATA_DIR is .* too long for the socket/);
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });
}, 120_000);
