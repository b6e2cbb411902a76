import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPackages } from '../../scripts/build-packages.ts';
import { findRuntimes, projectWithPackages, run } from '../kit/published.ts';

/** Tests the published packages as users get them: packed by npm, in a separate project, on every supported release of Node.js. */
const ROOT = join(import.meta.dirname, '..', '..');
const runtimes = findRuntimes();
let project = '';
beforeAll(async () => {
  await buildPackages();
  project = projectWithPackages();
  writeFileSync(join(project, 'use.mjs'), USE);
  writeFileSync(
    join(project, 'use.cjs'),
    `console.log(Object.keys(require('@beckon/client')).length, typeof require('@beckon/client/testing').createFakeServer)`,
  );
}, 120_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

const USE = `
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Beckon, ServerError, webhooks } from '@beckon/client';
import { createFakeServer } from '@beckon/client/testing';

const fake = await createFakeServer();
const beckon = new Beckon({ url: fake.url, apiKey: fake.apiKey, retry: { attempts: 2 } });
fake.fail({ status: 503, retryAfterS: 0 });
await beckon.track({ external_user_id: 'ada', name: 'user_signed_up' });
const report = await beckon.users.bulk([{ external_user_id: 'ada', email: 'ada@example.com' }, { external_user_id: '' }]);
fake.fail({ status: 500, retryAfterS: 0, times: 2 });
const failed = await beckon.track({ external_user_id: 'ada', name: 'x' }).catch((error) => error instanceof ServerError);
const received = [];
const endpoint = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  received.push(webhooks.verify(Buffer.concat(chunks), request.headers, fake.webhookSecret).type);
  response.end();
}).listen(0, '127.0.0.1');
await once(endpoint, 'listening');
const about = { external_user_id: 'ada', email_id: 'e', draft_id: 'd', rule: 'welcome', occurred_at: new Date().toISOString() };
const status = await fake.deliver('http://127.0.0.1:' + endpoint.address().port, 'email.opened', { ...about, bot: 'no', bot_reason: null });
endpoint.close();
endpoint.closeAllConnections();
await fake.close();
console.log(JSON.stringify({ events: fake.events.length, accepted: report.accepted, rejected: report.rejected, failed, status, received }));
`;

test('all supported releases of Node.js are available', (context) => {
  if (runtimes.length === 1) context.skip('npm could not bring Node.js 20, 22 and 24 (e2e/runtimes)');
  expect(runtimes).toHaveLength(4);
});

describe.each(runtimes)('on $name', ({ program }) => {
  test('the client sends, retries, throws its own errors and verifies webhooks', async () => {
    const { out, err } = await run(program, ['use.mjs'], { cwd: project });
    expect(err).toBe('');
    expect(JSON.parse(out)).toEqual({
      events: 1,
      accepted: 1,
      rejected: 1,
      failed: true,
      status: 200,
      received: ['email.opened'],
    });
  });

  test('the client can be loaded with require', async () => {
    const { out, code } = await run(program, ['use.cjs'], { cwd: project });
    expect([code, out]).toEqual([0, expect.stringMatching(/^\d+ function\n$/)]);
  });

  test('the command line prints its version, its help and a completion script', async () => {
    const main = join(project, 'node_modules/@beckon/cli/lib/main.js');
    const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8')) as {
      version: string;
    };
    const runs = ['--version', '--help', 'completion bash'].map((line) =>
      run(program, [main, ...line.split(' ')], { cwd: project }),
    );
    const [printed, help, script] = await Promise.all(runs);
    expect(printed).toEqual({ code: 0, out: `${version}\n`, err: '' });
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining('Usage: beckon'), err: '' });
    expect(script).toMatchObject({ code: 0, out: expect.stringContaining('complete -o default'), err: '' });
  });
});

test('the client is at most 60 kB unpacked and has no dependencies', () => {
  const packageDir = join(project, 'node_modules/@beckon/client');
  expect(sizeOf(packageDir)).toBeLessThanOrEqual(60_000);
  const manifest = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as object;
  expect(manifest).not.toHaveProperty('dependencies');
  expect(readdirSync(packageDir).toSorted()).toEqual(['LICENSE', 'README.md', 'lib', 'package.json']);
});

test('publint and attw find nothing', async () => {
  const dist = (name: string): string => join(ROOT, 'packages', name, 'dist');
  const found = await Promise.all([
    run('publint', [dist('client'), '--strict', '--pack', 'false'], { cwd: project }),
    run('publint', [dist('cli'), '--strict', '--pack', 'false'], { cwd: project }),
    run('attw', ['--pack', dist('client'), '--profile', 'esm-only', '--no-color'], { cwd: project }),
  ]);
  for (const { code, out, err } of found) expect([code, code === 0 ? '' : out + err]).toEqual([0, '']);
});

test("the client's types compile in a strict project, for canonical events and for events that the project declares", async () => {
  const folder = join(project, 'typed');
  mkdirSync(folder);
  writeFileSync(join(folder, 'use.ts'), TYPED);
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    noEmit: true,
    exactOptionalPropertyTypes: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const { code, out } = await run('tsc', ['-p', folder, '--pretty', 'false'], { cwd: project });
  expect([code, out]).toEqual([0, '']);
});

const TYPED = `
import { Beckon, type WebhookEvent, webhooks } from '@beckon/client';
import { createFakeServer, type FakeServer } from '@beckon/client/testing';
declare module '@beckon/client' {
  interface EventTypes { report_exported: { pages: number } }
}
const beckon = new Beckon({ url: 'https://beckon.example', apiKey: 'sk_live_x' });
void beckon.track({ external_user_id: 'ada', name: 'report_exported', properties: { pages: 3 } });
// @ts-expect-error pages is a number
void beckon.track({ external_user_id: 'ada', name: 'report_exported', properties: { pages: 'three' } });
// @ts-expect-error the length of a trial is a number
void beckon.track({ external_user_id: 'ada', name: 'trial_started', properties: { trialDays: '14' } });
const event: WebhookEvent = webhooks.verify('', {}, 'whsec_x');
if (event.type === 'email.clicked') event.data.url.startsWith('https://');
const fake: Promise<FakeServer> = createFakeServer();
void fake;
`;

test('builds the same sources into the same bytes', async () => {
  const built = (): string[] => ['client', 'cli'].map((name) => hashOf(join(ROOT, 'packages', name, 'dist')));
  const before = built();
  await buildPackages();
  expect(built()).toEqual(before);
});

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

function sizeOf(folder: string): number {
  return filesOf(folder).reduce((sum, file) => sum + statSync(file).size, 0);
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of filesOf(folder)) hash.update(`${file}\0${readFileSync(file, 'utf8')}\0`);
  return hash.digest('hex');
}
