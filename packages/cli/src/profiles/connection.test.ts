import { link, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
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

  test('sends to the public address of the server of the socket', async () => {
    const env = { DATA_DIR: dataDir, BECKON_API_KEY: world.apiKey };
    expect(await shell.json(['track', 'u1', 'opened'], { env })).toMatchObject({ accepted: true });
    expect((await shell.run(['doctor'], { env })).out).toContain(`${world.url} responds`);
  });

  test('ignores a file that is not a socket', async () => {
    const other = testShell();
    await writeFile(join(other.folder, 'beckon.sock'), '');
    const { err } = await other.run(['whoami'], { env: { DATA_DIR: other.folder } });
    expect(err).toContain('Not connected');
  });
});

describe('login', () => {
  test('is not needed on the socket, and saves an API key for it', async () => {
    const freshShell = testShell();
    const env = { DATA_DIR: dataDir };
    const saved = await world.tokenFor(['read']);
    const remote = ['login', '--with-token', '--url', world.url];
    expect((await freshShell.run(remote, { stdin: saved })).code).toBe(0);
    const [before] = (await freshShell.run(['whoami', '--json'])).lines;
    for (const args of [['login'], ['login', '--with-token']]) {
      const { code, err } = await freshShell.run(args, { env, stdin: saved });
      expect([code, err]).toEqual([2, expect.stringContaining('use the local socket and need no login')]);
    }
    const key = await freshShell.run(['login', '--with-key'], { env, stdin: world.apiKey });
    expect([key.code, key.err]).toEqual([0, expect.stringContaining('profile local.')]);
    expect((await freshShell.run(['whoami', '--json'])).lines).toEqual([before]);
    const { profiles } = JSON.parse(
      await readFile(join(freshShell.folder, '.config/beckon/profiles.json'), 'utf8'),
    );
    expect(profiles).toMatchObject({
      default: { url: world.url, token: saved },
      local: { url: `unix:${dataDir}/beckon.sock`, api_key: world.apiKey },
    });
    expect((await freshShell.run(['logout'], { env })).code).toBe(0);
    expect((await freshShell.run(['whoami', '--json'])).lines).toEqual([before]);
  });

  test('reports that it replaces the profile of another server', async () => {
    const freshShell = testShell();
    const login = ['login', '--with-key', '--url'];
    await freshShell.run([...login, 'https://beckon.example'], { stdin: world.apiKey });
    const { code, err } = await freshShell.run([...login, world.url], { stdin: world.apiKey });
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('was for https://beckon.example. It is replaced.'),
    ]);
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

  test('fails with a profile of another server, and keeps its token and key', async () => {
    const freshShell = testShell();
    const login = ['login', '--with-key', '--url', 'https://beckon.example'];
    expect((await freshShell.run(login, { stdin: world.apiKey })).code).toBe(0);
    const path = join(freshShell.folder, '.config/beckon/profiles.json');
    const before = await readFile(path, 'utf8');
    const env = { BECKON_URL: world.url, BECKON_TOKEN: await world.tokenFor(['read']) };
    const { code, err } = await freshShell.run(['use', 'Acme'], { env });
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(
        /Profile default is for https:\/\/beckon\.example\. Pass --profile <name>, or set/,
      ),
    ]);
    expect(await readFile(path, 'utf8')).toBe(before);
    expect((await freshShell.run(['use', 'Acme', '--profile', 'work'], { env })).code).toBe(0);
    expect(JSON.parse(await readFile(path, 'utf8')).profiles).toMatchObject({
      default: {},
      work: { project: '1' },
    });
  });
});

describe('logout', () => {
  test('never makes the profile of the socket current', async () => {
    const freshShell = testShell();
    const env = { DATA_DIR: dataDir };
    expect((await freshShell.run(['use', 'Acme'], { env })).code).toBe(0);
    const login = ['login', '--with-token', '--url', world.url];
    expect((await freshShell.run(login, { stdin: await world.tokenFor(['read']) })).code).toBe(0);
    expect((await freshShell.run(['logout'])).code).toBe(0);
    expect((await freshShell.run(['whoami'])).err).toContain('Not connected to a server');
  });
});
