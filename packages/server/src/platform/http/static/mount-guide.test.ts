import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { type GuideState, mountGuide, readGuide } from './mount-guide.ts';

const SCRIPT = 'document.documentElement.classList.add("dark")';
const PAGE = `<!doctype html><title>Rules</title><script id="a">${SCRIPT}</script><script type="module" src="/guide/assets/app.1a.js"></script>`;

function served(state: GuideState): FastifyInstance {
  const app = Fastify();
  onTestFinished(() => app.close());
  mountGuide(app, { state: () => state });
  return app;
}

async function built(): Promise<GuideState> {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-guide-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'assets'));
  for (const name of ['index', 'rules', '404']) await writeFile(join(folder, `${name}.html`), PAGE);
  await writeFile(join(folder, 'rules.md'), '# Rules\n');
  await writeFile(join(folder, 'llms.txt'), '# Beckon\n');
  await writeFile(join(folder, 'assets', 'app.1a.js'), 'export {};');
  return { kind: 'ready', ...(await readGuide(folder)) };
}

test('serves each page as HTML and as Markdown, and an index of all at the root', async () => {
  const app = served(await built());
  const seen = async (url: string): Promise<unknown[]> => {
    const { statusCode, headers } = await app.inject(url);
    return [statusCode, String(headers['content-type']).split(';')[0], headers['location']];
  };
  expect(await seen('/guide')).toEqual([308, 'undefined', '/guide/']);
  for (const url of ['/guide/', '/guide/rules', '/guide/rules.html', '/guide/rules.html?x=1'])
    expect(await seen(url), url).toEqual([200, 'text/html', undefined]);
  expect(await seen('/guide/rules.md')).toEqual([200, 'text/markdown', undefined]);
  expect(await seen('/llms.txt')).toEqual([200, 'text/plain', undefined]);
  for (const url of ['/guide/none', '/guide/../llms.txt/x', '/guide/%2e%2e/x', '/guide/assets/'])
    expect((await seen(url))[0], url).toBe(404);
});

test('redirects /docs to the API page, also while the guide is being built or after it failed', async () => {
  for (const state of [await built(), { kind: 'building' }, { kind: 'failed' }] satisfies GuideState[]) {
    const { statusCode, headers } = await served(state).inject('/docs?next=https://evil.test');
    expect([state.kind, statusCode, headers.location]).toEqual([state.kind, 302, '/guide/api.html']);
  }
});

test('allows a page our files and its own few lines of script, nothing from elsewhere, and no framing', async () => {
  const app = served(await built());
  const hash = createHash('sha256').update(SCRIPT).digest('base64');
  for (const url of ['/guide/', '/guide/rules', '/guide/none']) {
    const policy = String((await app.inject(url)).headers['content-security-policy']);
    expect(policy, url).toContain(`script-src 'self' 'sha256-${hash}';`);
    for (const part of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy, url).toContain(part);
    expect(policy).not.toMatch(/script-src[^;]*(unsafe|data:|\*)|https?:/);
  }
  const asset = await app.inject('/guide/assets/app.1a.js');
  expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

test('shows that the guide is being built or failed to build, without a 200', async () => {
  for (const url of ['/guide/', '/llms.txt']) {
    const building = await served({ kind: 'building' }).inject(url);
    expect([building.statusCode, building.headers['retry-after']]).toEqual([503, '2']);
    expect(building.body).toContain('http-equiv="refresh"');
  }
  const failed = await served({ kind: 'failed' }).inject('/guide/');
  expect([failed.statusCode, failed.body.includes('refresh')]).toEqual([503, false]);
  expect(failed.body).toContain('could not be built');
});
