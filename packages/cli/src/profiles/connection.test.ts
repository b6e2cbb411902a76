import { link, mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';

const world = await testWorld();
const dataDir = await world.localSocket();
const token = await world.tokenFor(['read']);
const shell = testShell();

const connectionOf = async (env: Record<string, string>, args: string[] = []): Promise<string> => {
  const { out, err } = await shell.run(['whoami', ...args], { env });
  return out === '' ? err : (out.split('\n')[0] ?? '');
};

describe('connection', () => {
  test('is an error without a server', async () => {
    expect(await connectionOf({})).toMatch(/Not connected to a server. Run beckon login .*DATA_DIR/);
  });

  test('is the local socket of DATA_DIR, with the rights of an owner and no login', async () => {
    expect(await connectionOf({ DATA_DIR: dataDir })).toMatch(/^server +this machine, .*beckon\.sock$/);
    const found = await shell.json(['whoami'], { env: { DATA_DIR: dataDir } });
    expect(found).toMatchObject({ connection: `unix:${dataDir}/beckon.sock`, projects: [{ role: 'owner' }] });
  });

  test('is remote for an explicit address, token or profile, even beside a socket', async () => {
    const env = { DATA_DIR: dataDir, BECKON_TOKEN: token };
    expect(await connectionOf({ ...env, BECKON_URL: world.url })).toContain(world.url);
    expect(await connectionOf({ ...env }, ['--url', world.url])).toContain(world.url);
    expect(await connectionOf({ DATA_DIR: dataDir }, ['--url', world.url])).toContain('Not logged in to');
    expect(await connectionOf({ DATA_DIR: dataDir }, ['--profile', 'work'])).toContain('Not logged in to');
  });

  test('falls back to the profile without a socket, and prefers the socket with one', async () => {
    const login = ['login', '--with-token', '--url', world.url];
    expect((await shell.run(login, { stdin: token })).code).toBe(0);
    expect(await connectionOf({})).toContain(world.url);
    expect(await connectionOf({ DATA_DIR: dataDir })).toContain('this machine');
    await shell.run(['logout']);
  });

  test('does not use another server when the local one is down', async () => {
    const stale = testShell();
    const socket = join(stale.folder, 'data', 'beckon.sock');
    await mkdir(join(stale.folder, 'data'));
    // A killed server leaves its socket file behind; closing one in this process would remove it.
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    await link(socket, `${socket}.kept`);
    await new Promise((resolve) => server.close(resolve));
    await rename(`${socket}.kept`, socket);
    const { code, err } = await stale.run(['whoami']);
    expect([code, err]).toEqual([1, expect.stringMatching(/Cannot reach .*beckon\.sock.*ECONNREFUSED/)]);
  });

  test('ignores a file that is not a socket', async () => {
    const other = testShell();
    await writeFile(join(other.folder, 'beckon.sock'), '');
    const { err } = await other.run(['whoami'], { env: { DATA_DIR: other.folder } });
    expect(err).toContain('Not connected');
  });
});

describe('use', () => {
  test('keeps the project per server, and the local one beside the login', async () => {
    const env = { DATA_DIR: dataDir };
    await shell.json(['projects', 'create', 'Second'], { env });
    expect((await shell.run(['keys', 'list'], { env })).code).toBe(2);
    expect(await shell.json(['use', 'Second'], { env })).toEqual({ id: '2', name: 'Second' });
    expect(await connectionOf(env)).toContain('this machine');
    expect(await shell.json(['keys', 'list'], { env })).toEqual([]);
    expect(await shell.json(['keys', 'list', '--project', 'Acme'], { env })).toMatchObject([
      { label: 'server' },
    ]);
    expect((await shell.run(['whoami', '--profile', 'local'])).code).toBe(2);
  });
});

describe('logout', () => {
  test('never makes the profile of the socket current', async () => {
    const own = testShell();
    const env = { DATA_DIR: dataDir };
    expect((await own.run(['use', 'Acme'], { env })).code).toBe(0);
    const login = ['login', '--with-token', '--url', world.url];
    expect((await own.run(login, { stdin: await world.tokenFor(['read']) })).code).toBe(0);
    expect((await own.run(['logout'])).code).toBe(0);
    expect((await own.run(['whoami'])).err).toContain('Not connected to a server');
  });
});
