import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../packages/server/testing/servers/free-port.ts';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { fillWithHostility, HOSTILE } from '../kit/hostile.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { screensOf } from '../kit/screens.ts';
import { signedIn } from '../kit/session.ts';
import { eachTab, settled, navigateTo } from '../kit/walk.ts';

/** Lists that show the details of a row in a side panel. */
const WITH_PANEL = ['activity', 'events', 'replies', 'requests', 'settings/audit'];
/** Screens that must show the text: a screen that shows nothing proves nothing. */
const SHOWN_ON = [
  'review',
  'users',
  'audiences',
  'events',
  'rules',
  'templates',
  'emails',
  'test-inbox',
  'replies',
  'activity',
  'settings/api-keys',
  'settings/audit',
];

describe.skipIf(!hasBrowser)('hostile user data in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let projectId: number;
  let paths: string[];
  const dialogs: string[] = [];
  beforeAll(async () => {
    browser = await openBrowser();
    const mailInPort = await freePort();
    installation = await newInstallation({
      MAIL_IN_PORT: String(mailInPort),
      MAIL_DOMAIN: 'in.example.com',
    });
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    const signed = await signedIn(person.context, installation);
    projectId = signed.projectId;
    await fillWithHostility({ session: signed, projectId, installation, mailInPort });
    paths = await screensOf(signed, projectId);
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(`${installation.url}/projects`);
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  test('shows input of users, members and replies as text on every screen, without running it or adding it to the page', async () => {
    const found: object[] = [];
    const screens = new Set<string>();
    for (const path of paths) {
      await navigateTo(page, path);
      const [, , , screen = path, setting = ''] = path.split('/');
      const name = screen === 'settings' ? `${screen}/${setting}` : screen;
      if (WITH_PANEL.includes(name)) await openFirst(page);
      await eachTab(page, async () => {
        found.push(...(await come(page, path)));
      });
      found.push(...(await come(page, path)));
      if ((await page.getByText(HOSTILE).count()) > 0) screens.add(name);
      if (WITH_PANEL.includes(name)) await page.keyboard.press('Escape');
    }
    expect(found).toEqual([]);
    expect([...screens]).toEqual(expect.arrayContaining(SHOWN_ON));
    expect(dialogs).toEqual([]);
    expect(pageErrors).toEqual([]);
  }, 180_000);

  test('shows an email in a sandboxed frame, and opens its links outside the page', async () => {
    const framed = paths.filter((path) => /\/(review|(drafts|templates|emails|test-inbox)\/.+)$/.test(path));
    for (const path of framed) {
      await navigateTo(page, path);
      const frame = page.locator('iframe').first();
      await frame.waitFor();
      expect([path, await frame.getAttribute('sandbox')]).toEqual([path, '']);
      const src = (await frame.getAttribute('src')) ?? '';
      const response = await page.context().request.get(new URL(src, installation.url).href);
      expect(response.headers()['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
      const inside = page.frameLocator('iframe').first();
      await inside.getByText('Hello').first().waitFor();
      const before = page.url();
      for (const link of await inside.getByRole('link', { name: 'This' }).all()) await link.click();
      expect(page.url()).toBe(before);
    }
    expect(framed.length).toBeGreaterThan(3);
    expect(dialogs).toEqual([]);
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
  }, 120_000);
});

async function openFirst(page: Page): Promise<void> {
  await page.locator('[data-row] :is(a, button)').first().click();
  await page.getByRole('dialog').first().waitFor();
  await settled(page);
}

/** Finds injected content that became active: a script that ran, an element that it created, an address that would run. */
async function come(page: Page, path: string): Promise<object[]> {
  const alive = await page.evaluate<string[]>(
    `[
      ...(globalThis.ran === undefined ? [] : ['it ran']),
      ...[...document.querySelectorAll('[onerror], [onload], img[src="x"], script:not([src]), [href^="javascript:" i], [src^="javascript:" i]')].map((one) => one.outerHTML),
    ]`,
  );
  return alive.map((what) => ({ path, what }));
}
