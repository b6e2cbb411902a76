import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mountGuide, readGuide } from '../../packages/server/src/platform/http/static/mount-guide.ts';
import { PAGES } from '../../site/pages.ts';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { ROOT } from './texts.ts';

const folder = mkdtempSync(join(tmpdir(), 'beckon-site-'));
const site = join(folder, 'site');
let app: FastifyInstance;
let url: string;
beforeAll(async () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'site/build.ts'), '--out', site], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  app = Fastify();
  const ready = { kind: 'ready' as const, ...(await readGuide(site)) };
  mountGuide(app, { state: () => ready });
  url = await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

test('has each page as HTML and as Markdown, and lists them all in llms.txt', () => {
  const files = new Set(readdirSync(site));
  const [index, whole] = ['llms.txt', 'llms-full.txt'].map((name) => readFileSync(join(site, name), 'utf8'));
  for (const { path, title } of PAGES) {
    expect([files.has(`${path}.html`), files.has(`${path}.md`)], path).toEqual([true, true]);
    expect(index).toContain(`[${title}](/guide/${path}.md): `);
    expect(whole).toContain(`<!-- /guide/${path}.md -->`);
  }
});

test('links every page to existing pages, files and headings', () => {
  const pages = new Map(
    PAGES.map(({ path }) => [`/guide/${path}.html`, readFileSync(join(site, `${path}.html`), 'utf8')]),
  );
  const files = new Set(
    readdirSync(site, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).replace(site, '/guide')),
  );
  const broken = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)]
      .map(([, target = '']) => new URL(target.replaceAll('&amp;', '&'), `http://site${page}`))
      .filter(({ host, pathname, hash }) => {
        if (host !== 'site' || pathname === '/') return false;
        const path = pathname === '/guide/' ? '/guide/index.html' : pathname;
        if (!files.has(path)) return true;
        const id = decodeURIComponent(hash.slice(1));
        return id !== '' && !(pages.get(path) ?? '').includes(` id="${id}"`);
      })
      .map((target) => `${page} → ${target.pathname}${target.hash}`),
  );
  expect(broken).toEqual([]);
});

describe.skipIf(!hasBrowser)('documentation site in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  test.concurrent.each([false, true])(
    'loads a page without third-party requests, under its policy, without accessibility violations, and finds it by search (dark: %s)',
    async (dark) => {
      const { context, page, pageErrors } = await newPerson(browser, { dark });
      const requestedUrls: string[] = [];
      page.on('request', (request) => requestedUrls.push(request.url()));
      for (const path of ['', 'api.html', 'verify-webhooks.html', 'none.html']) {
        await page.goto(`${url}/guide/${path}`);
        await page.locator('h1').waitFor();
        expect(await violationsOf(page), path).toEqual([]);
      }
      await page.keyboard.press('/');
      await page.getByRole('searchbox').fill('quiet hours');
      await page.getByRole('option').first().click();
      await page.waitForURL((now) => now.pathname.endsWith('.html') && now.hash !== '');
      expect(requestedUrls.filter((requested) => !requested.startsWith(`${url}/guide/`))).toEqual([]);
      expect(pageErrors).toEqual([]);
      await context.close();
    },
  );

  test.concurrent.each([1280, 390])(
    'shows the API page at /docs, without horizontal scrolling of the page or a table (width: %i)',
    async (width) => {
      const { context, page } = await newPerson(browser, { width });
      await page.goto(`${url}/docs`);
      await page.getByRole('heading', { level: 1, name: 'API' }).waitFor();
      expect(page.url()).toBe(`${url}/guide/api.html`);
      expect(await page.getByRole('table').count()).toBeGreaterThan(10);
      const tooWide = await page.evaluate(`[document.documentElement, ...document.querySelectorAll('table')]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ textContent }) => textContent.slice(0, 80))`);
      expect(tooWide).toEqual([]);
      await context.close();
    },
  );
});
