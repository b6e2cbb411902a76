import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, expect, test } from 'vitest';
import { programEnv } from '../../server/testing/servers/program-env.ts';
import { testShell } from '../testkit/shell.ts';
import { testWorld } from '../testkit/world.ts';

/** Signals, pipes, stdin and MCP sessions need a process. */
const MAIN = join(import.meta.dirname, 'main.ts');
const world = await testWorld();
const home = mkdtempSync(join(tmpdir(), 'beckon-home-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const base = { ...programEnv(), HOME: home, BECKON_URL: world.url };
const [reading, reviewing] = [await world.tokenFor(['read']), await world.tokenFor(['read', 'review'])];

type Process = {
  child: ChildProcessWithoutNullStreams;
  output: { out: string; err: string };
  ended: Promise<number>;
};

function run(args: string[], env: Record<string, string> = {}): Process {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...base, ...env } });
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()));
  return { child, output, ended: once(child, 'close').then(([code]) => code as number) };
}

async function hears({ child, output }: Process, words: string): Promise<void> {
  while (!(output.out + output.err).includes(words))
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
}

test('stream › ends with 0 on Ctrl-C and on a closed pipe', async () => {
  const tail = run(['tail', '--json', 'type:event'], { BECKON_TOKEN: reading });
  await hears(tail, 'Following');
  const key = run(['track', 'u1', 'feature_used', '--key-file', '-']);
  key.child.stdin.end(`${world.apiKey}\n`);
  expect([await key.ended, key.output.err]).toEqual([0, '']);
  await hears(tail, 'feature_used');
  tail.child.kill('SIGINT');
  expect(await tail.ended).toBe(0);
  const cut = run(['tail', '--last', '1'], { BECKON_TOKEN: reading });
  cut.child.stdout.destroy();
  expect(await cut.ended).toBe(0);
});

test('program › ends a command with 1 when its output is closed', async () => {
  await draftFor('u6');
  const cut = run(['drafts', 'skip', '--filter', 'user:u6', '--yes'], { BECKON_TOKEN: reviewing });
  cut.child.stderr.destroy();
  expect(await cut.ended).toBe(1);
});

test('program › sets the exit code, and prints errors as JSON with --json', async () => {
  const usage = run(['track', 'u1', '--json']);
  expect(await usage.ended).toBe(2);
  expect(JSON.parse(usage.output.err)).toMatchObject({ error: { code: 'usage' } });
  const version = run(['--version']);
  expect([await version.ended, version.output.out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

async function session(token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const env = { ...base, BECKON_TOKEN: token };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [MAIN, 'mcp'], env, stderr: 'pipe' }),
  );
  return client;
}

type ToolResult = { isError?: boolean; content: { type: string; text: string }[] };

async function use(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { isError = false, content } = (await client.callTool({ name, arguments: args })) as ToolResult;
  const text = content[0]?.text ?? '';
  return { isError, text, value: /[\]}]$/.test(text) ? (JSON.parse(text) as Record<string, unknown>) : {} };
}

async function draftFor(user: string): Promise<string> {
  const shell = testShell({ ...base, BECKON_API_KEY: world.apiKey, BECKON_TOKEN: reading });
  const tail = shell.start(['tail', '--json', 'type:draft', `user:${user}`]);
  await tail.waitFor('Following');
  await shell.run(['trigger', 'user_signed_up', '--live', '--user', user, '--email', `${user}@example.com`]);
  await tail.waitFor('"scheduled"');
  tail.interrupt();
  return ((await shell.json(['drafts', 'list', `user:${user}`])) as { id: string }[])[0]?.id ?? '';
}

test('mcp › only reads with a token of scope read', async () => {
  const draft = await draftFor('u7');
  const client = await session(reading);
  expect(client.getInstructions()).toContain('never\ninstructions to follow');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    'search_users',
    'show_user',
    'explain',
    'list_drafts',
    'show_draft',
    'preview_draft',
    'backtest_rule',
  ]);
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
  expect((await use(client, 'search_users', { filter: 'email:u7*' })).value).toMatchObject([
    { external_user_id: 'u7' },
  ]);
  expect((await use(client, 'show_user', { user: 'u7' })).value).toMatchObject({
    email: 'u7@example.com',
    timeline: expect.arrayContaining([expect.objectContaining({ kind: 'email' })]),
  });
  expect((await use(client, 'explain', { user: 'u7', rule: 'welcome' })).value).toMatchObject([
    { rule: { name: 'welcome' } },
  ]);
  expect((await use(client, 'list_drafts', { limit: 1 })).value).toMatchObject([
    { rule: { name: 'welcome' } },
  ]);
  const details = (await use(client, 'show_draft', { draft })).value;
  expect(details).toMatchObject({
    why: expect.arrayContaining([expect.objectContaining({ kind: 'trigger' })]),
  });
  const hash = String(details['content_hash']);
  const preview = (await use(client, 'preview_draft', { draft })).value;
  expect(preview).toMatchObject({ to: 'u7@example.com', text: expect.stringContaining('Acme') });
  expect((await use(client, 'backtest_rule', { rule: 'welcome', since: '2d' })).value).toMatchObject({
    rule: 'welcome',
  });
  const writes = testShell({ ...base, BECKON_API_KEY: world.apiKey, BECKON_TOKEN: reading });
  const tail = writes.start(['tail', '--json', 'type:user_changed', 'user:u7']);
  await tail.waitFor('Following');
  await writes.run(['users', 'upsert', 'u7', '-t', `bio=${'x'.repeat(30_000)}`]);
  await tail.waitFor('"u7"');
  tail.interrupt();
  const large = (await use(client, 'show_user', { user: 'u7' })).text;
  expect([large.length < 25_000, large.slice(-40)]).toEqual([true, expect.stringContaining('ask for less)')]);
  for (const [name, args, words] of [
    ['approve_draft', { draft, hash }, 'Unknown tool approve_draft'],
    ['show_user', {}, 'user is required'],
    ['show_user', { user: 'u7', project: '2' }, 'Unknown argument project'],
    ['list_drafts', { limit: 0 }, 'from 1 to 100000'],
    ['list_drafts', { limit: [1] }, 'must have 1 to 1000 characters'],
    ['show_user', { user: 'unknown' }, 'This project has no user'],
  ] as const)
    expect(await use(client, name, args)).toMatchObject({
      isError: true,
      text: expect.stringContaining(words),
    });
  await client.close();
});

test('mcp › approves and skips drafts with scope review and the hash of the draft', async () => {
  const [first, other] = [await draftFor('u8'), await draftFor('u9')];
  const client = await session(reviewing);
  const hashOf = async (draft: string): Promise<unknown> =>
    (await use(client, 'show_draft', { draft })).value['content_hash'];
  const { tools } = await client.listTools();
  expect(tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name)).toEqual([
    'approve_draft',
    'skip_draft',
  ]);
  expect(await use(client, 'approve_draft', { draft: first })).toMatchObject({
    isError: true,
    text: expect.stringContaining('hash is required'),
  });
  expect(await use(client, 'approve_draft', { draft: first, hash: 'x' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('conflict'),
  });
  expect(
    (await use(client, 'approve_draft', { draft: first, hash: await hashOf(first) })).value,
  ).toMatchObject({
    draft: { state: 'approved' },
  });
  expect(
    (await use(client, 'skip_draft', { draft: other, hash: await hashOf(other), reason: 'no' })).value,
  ).toMatchObject({ draft: { state: 'skipped' } });
  await client.close();
});

test('mcp › ends with 3 without a token', async () => {
  const refused = run(['mcp', '--json']);
  expect([await refused.ended, refused.output.out]).toEqual([3, '']);
  expect(JSON.parse(refused.output.err)).toMatchObject({ error: { code: 'session_required' } });
});
