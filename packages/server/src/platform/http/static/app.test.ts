import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { type AppState, mountApp, readAppFiles } from './app.ts';

const apps: FastifyInstance[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

function served(state: AppState, publicUrl = 'http://localhost:8080'): FastifyInstance {
  const app = Fastify();
  apps.push(app);
  mountApp(app, { publicUrl, state: () => state });
  return app;
}

async function built(): Promise<AppState> {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-app-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Beckon</title>');
  await writeFile(join(folder, 'assets', 'index-1a2b.js'), `export const words = '${'word '.repeat(500)}';`);
  // The build compresses with Brotli, and the server only serves the file.
  await writeFile(join(folder, 'assets', 'index-1a2b.js.br'), 'brotli');
  await writeFile(join(folder, 'assets', 'font-3c4d.woff2'), 'font');
  await writeFile(join(folder, 'secret.env'), 'KEY=1');
  return { kind: 'ready', ...(await readAppFiles(folder)) };
}

const PAGES = [
  '/',
  '/p/1/review?draft=2',
  '/projects',
  '/setup?token=x',
  '/sign-in',
  '/invite',
  '/reset',
  '/profile',
];

test('serves the page for every path of the dashboard, with a policy that allows only our files and no framing', async () => {
  const app = served(await built());
  for (const url of PAGES) {
    const { statusCode, headers, body } = await app.inject({ url, headers: { host: 'localhost:8080' } });
    expect([url, statusCode, body]).toEqual([url, 200, '<!doctype html><title>Beckon</title>']);
    const policy = String(headers['content-security-policy']);
    for (const part of [
      "default-src 'none'",
      "script-src 'self';",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/script-src[^;]*(unsafe|data:|\*)/);
    expect([headers['cache-control'], headers['referrer-policy']]).toEqual(['no-cache', 'no-referrer']);
  }
});

test('answers a path that is not a project with the page and 404, also for a backup or a name', async () => {
  const app = served(await built());
  for (const url of ['/p/x', '/p/x.bak', '/p/1~/home', '/p/backup.sql?x=1', '/p/']) {
    const { statusCode, body } = await app.inject({ url, headers: { host: 'localhost:8080' } });
    expect([url, statusCode, body]).toEqual([url, 404, '<!doctype html><title>Beckon</title>']);
  }
});

test('answers an unknown path with 404: the page for browsers, the JSON error for programs', async () => {
  const app = served(await built());
  const browser = await app.inject({
    url: '/nowhere',
    headers: { host: 'localhost:8080', accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
  });
  expect([browser.statusCode, browser.body]).toEqual([404, '<!doctype html><title>Beckon</title>']);
  for (const accept of [undefined, '*/*', 'application/json']) {
    const program = await app.inject({ url: '/nowhere', headers: accept === undefined ? {} : { accept } });
    expect([program.statusCode, program.headers['content-type']]).toEqual([
      404,
      'application/json; charset=utf-8',
    ]);
    expect(program.json()).toMatchObject({ errors: [{ code: 'not_found' }] });
  }
});

test('lets the browser keep files with a hash in their name, compressed where possible, and answers unknown files with 404', async () => {
  const app = served(await built());
  const script = await app.inject({
    url: '/assets/index-1a2b.js',
    headers: { 'accept-encoding': 'gzip, br' },
  });
  expect(script.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-encoding': 'br',
    vary: 'Accept-Encoding',
  });
  expect(script.rawPayload.toString()).toBe('brotli');
  const gzipped = await app.inject({
    url: '/assets/index-1a2b.js',
    headers: { 'accept-encoding': 'gzip, deflate' },
  });
  expect(gzipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(gzipped.rawPayload.length).toBeLessThan(200);
  expect((await app.inject('/assets/index-1a2b.js')).body).toContain('word word');
  const font = await app.inject({ url: '/assets/font-3c4d.woff2', headers: { 'accept-encoding': 'gzip' } });
  expect([font.statusCode, font.headers['content-encoding']]).toEqual([200, undefined]);
  for (const url of [
    '/assets/',
    '/assets/none.js',
    '/assets/../secret.env',
    '/assets/%2e%2e/secret.env',
    '/secret.env',
  ])
    expect((await app.inject(url)).statusCode, url).toBe(404);
});

test('shows on the page that the dashboard is being built or failed to build, without a 200', async () => {
  const building = await served({ kind: 'building' }).inject('/p/1/home');
  expect([building.statusCode, building.headers['retry-after']]).toEqual([503, '2']);
  expect(building.body).toContain('http-equiv="refresh"');
  const failed = await served({ kind: 'failed' }).inject('/');
  expect([failed.statusCode, failed.body.includes('refresh')]).toEqual([503, false]);
  expect(failed.body).toContain('could not be built');
});

test('redirects another loopback name to the one that sessions belong to, and no other host', async () => {
  const app = served(await built());
  for (const host of ['127.0.0.1:8080', '[::1]:8080', 'beckon.localhost:8080']) {
    const { statusCode, headers } = await app.inject({ url: '/p/1/review?draft=2', headers: { host } });
    expect([statusCode, headers.location]).toEqual([307, 'http://localhost:8080/p/1/review?draft=2']);
  }
  for (const host of ['localhost:8080', '127.0.0.1:9', 'example.com:8080', '::::', 'a b'])
    expect((await app.inject({ url: '/', headers: { host } })).statusCode, host).toBe(200);
  const real = served(await built(), 'https://beckon.example');
  expect((await real.inject({ url: '/', headers: { host: '127.0.0.1' } })).statusCode).toBe(200);
});
