import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { OWNER } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { serverWith } from '../kit/public-api.ts';
import { signedIn } from '../kit/session.ts';

/** A page that redirects without end replaces its URL without end. Other redirects need a few calls. */
const COUNT_REPLACED = `
  globalThis.replaced = 0;
  const replaceState = history.replaceState.bind(history);
  history.replaceState = (...args) => { globalThis.replaced += 1; replaceState(...args); };
`;
const REPLACED_MAX = 20;

describe.skipIf(!hasBrowser)('link to a page while signed out in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let context: BrowserContext;
  let page: Page;
  let pageErrors: string[];
  let projectId: number;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const owner = await newPerson(browser);
    const { projectId: id, ...session } = await signedIn(owner.context, installation);
    projectId = id;
    type Made = { data: { secret: string } };
    const { data } = await session.request<Made>('POST', `/projects/${id}/keys`, { label: 'Server' });
    const post = serverWith(data.secret, installation);
    for (const user of ['user_1', 'user_2', 'other_1']) await post('users', { external_user_id: user });
    ({ context, page, pageErrors } = await newPerson(browser));
    await page.addInitScript(COUNT_REPLACED);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const replaced = (): Promise<number> => page.evaluate<number>('globalThis.replaced');
  async function signIn(): Promise<void> {
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    expect(await replaced()).toBeLessThan(REPLACED_MAX);
    await page.getByLabel('Email').fill(OWNER.email);
    await page.getByLabel('Password', { exact: true }).fill(OWNER.password);
    await page.keyboard.press('Enter');
  }
  async function arrives(title: string, path: string): Promise<void> {
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    const { pathname, search } = new URL(page.url());
    expect(`${pathname}${search}`).toBe(path);
    expect(await replaced()).toBeLessThan(REPLACED_MAX);
  }

  test.each([
    ['Review', 'review'],
    ['Home', 'home'],
    ['Users', 'users?filter=user%3Auser_*'],
  ])('leads to %s after the member signed in', async (title, screen) => {
    await context.clearCookies();
    await page.goto(`${installation.url}/p/${projectId}/${screen}`);
    await signIn();
    await arrives(title, `/p/${projectId}/${screen}`);
  });

  test('keeps the filter of the link', async () => {
    await page.getByRole('link', { name: 'user_1' }).first().waitFor();
    expect(await page.getByText('other_1').count()).toBe(0);
  });

  test('leads back to the page that was reloaded after the session ended', async () => {
    await page.goto(`${installation.url}/p/${projectId}/insights`);
    await page.getByRole('heading', { name: 'Insights', level: 1 }).waitFor();
    await context.clearCookies();
    await page.reload();
    await signIn();
    await arrives('Insights', `/p/${projectId}/insights`);
    expect(pageErrors).toEqual([]);
  });
});
