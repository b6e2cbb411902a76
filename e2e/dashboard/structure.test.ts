import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FORMER_PATHS } from '../../packages/dashboard/src/app/former-paths.ts';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { serverWith } from '../kit/public-api.ts';
import { screensOf } from '../kit/screens.ts';
import { type Session, signedIn } from '../kit/session.ts';
import { navigateTo, settled } from '../kit/walk.ts';

const ENTRIES = [
  'Home',
  'Review',
  'Rules',
  'Templates',
  'Audiences',
  'Users',
  'Replies',
  'Emails',
  'Insights',
  'Activity',
  'Events',
  'Webhooks',
  'Settings',
];
const SETTINGS = [
  ['Sender', 'sender'],
  ['Domains', 'domains'],
  ['Relays', 'relays'],
  ['Reply source', 'reply-source'],
  ['Sending policy', 'sending-policy'],
  ['Data', 'data'],
  ['Audit', 'audit'],
  ['API keys', 'api-keys'],
  ['Sandbox', 'sandbox'],
  ['Team', 'team'],
  ['System', 'system'],
];

describe.skipIf(!hasBrowser)('structure of the dashboard in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let cookies: Awaited<ReturnType<BrowserContext['cookies']>>;
  let session: Session;
  let projectId: number;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const owner = await newPerson(browser, { width: 1440, height: 900 });
    ({ page, pageErrors } = owner);
    const signed = await signedIn(owner.context, installation);
    projectId = signed.projectId;
    session = signed;
    cookies = await owner.context.cookies();
    type Made = { data: { secret: string } };
    const { data } = await session.request<Made>('POST', `/projects/${projectId}/keys`, { label: 'Server' });
    const post = serverWith(data.secret, installation);
    const user = { external_user_id: 'ada', email: 'ada@example.com', traits: { name: 'Ada' } };
    expect(await post('users', user)).toBe(202);
    expect(await post('events', { external_user_id: 'ada', name: 'user_signed_up' })).toBe(202);
    await session.request('POST', `/projects/${projectId}/domains`, { name: 'mail.acme.test' });
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const open = async (screen: string, of = page, project = projectId): Promise<void> => {
    await of.goto(`${installation.url}/p/${project}/${screen}`);
    await of.getByRole('heading', { level: 1 }).waitFor();
    await settled(of);
  };
  const rail = (name = 'Screens', of = page): Locator => of.getByRole('navigation', { name, exact: true });
  const pathOf = (of = page): string => new URL(of.url()).pathname.replace(/^\/p\/\d+\//, '');
  const heading = (name: string, of = page): Promise<void> =>
    of.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  test('the sidebar has 13 entries, all visible without scrolling in a window of 900 px', async () => {
    await open('home');
    const links = rail().getByRole('link');
    expect((await links.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual(ENTRIES);
    const { height } = (await rail().boundingBox()) ?? { height: 0 };
    for (const link of await links.all()) {
      const box = await link.boundingBox();
      expect(box).not.toBeNull();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(56 + height);
    }
    const scrolls = await page.evaluate<boolean>(`
      [...document.querySelectorAll('nav[aria-label="Screens"] *')].some(
        (element) => element.scrollHeight > element.clientHeight && getComputedStyle(element).overflowY === 'auto',
      )`);
    expect(scrolls).toBe(false);
  });

  test('Settings have a sidebar of their own, which leads to each page and back', async () => {
    await open('insights');
    await rail().getByRole('link', { name: 'Settings' }).click();
    await heading('Sender');
    expect(await rail().count()).toBe(0);
    for (const [name = '', path] of SETTINGS) {
      await rail('Settings').getByRole('link', { name, exact: true }).click();
      await heading(name);
      expect(pathOf()).toBe(`settings/${path}`);
      expect(await rail('Settings').locator('[aria-current="page"]').allInnerTexts()).toEqual([name]);
    }
    for (const group of ['Project', 'Developers', 'Organization', 'Installation'])
      expect(await rail('Settings').getByRole('group', { name: group, exact: true }).isVisible()).toBe(true);
    await rail('Settings')
      .getByRole('link', { name: /^Back to / })
      .click();
    await heading('Insights');
    await open('settings');
    await heading('Sender');
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await heading('Webhooks');
  });

  test.each([
    [
      'Users',
      [
        ['Users', 'users'],
        ['Suppressions', 'suppressions'],
        ['Imports', 'imports'],
      ],
    ],
    [
      'Emails',
      [
        ['Scheduled', 'schedule'],
        ['Sent', 'emails'],
        ['Test inbox', 'test-inbox'],
      ],
    ],
    [
      'Activity',
      [
        ['Live', 'activity'],
        ['Requests', 'requests'],
        ['Dead letters', 'dead-letters'],
      ],
    ],
  ] as const)('the pages of %s are tabs, and the entry stays selected', async (entry, tabs) => {
    await open('home');
    await rail().getByRole('link', { name: entry }).click();
    const bar = rail(entry);
    expect((await bar.getByRole('link').allInnerTexts()).map((text) => text.split('\n')[0])).toEqual(
      tabs.map(([label]) => label),
    );
    for (const [label, path] of tabs) {
      await bar.getByRole('link', { name: label, exact: true }).click();
      await bar.locator('[aria-current="page"]', { hasText: label }).waitFor();
      await settled(page);
      expect(pathOf()).toBe(path);
      expect(await rail().locator('[aria-current="page"]').innerText()).toContain(entry);
    }
  });

  test('the test inbox has no tab while a relay is set and no email is kept', async () => {
    const withRelay = await newInstallation({ SMTP_URL: 'smtp://127.0.0.1:9' });
    const { context, page: other } = await newPerson(browser);
    const { projectId: id } = await signedIn(context, withRelay);
    const bar = rail('Emails', other);
    await other.goto(`${withRelay.url}/p/${id}/emails`);
    await heading('Sent emails', other);
    await settled(other);
    expect(await bar.getByRole('link').allInnerTexts()).toEqual(['Scheduled', 'Sent']);
    await other.goto(`${withRelay.url}/p/${id}/test-inbox`);
    await bar.getByRole('link', { name: 'Test inbox' }).waitFor();
    await context.close();
    await withRelay.remove();
  });

  test('the command menu lists every page, with the pages of Settings and the tabs', async () => {
    await open('home');
    await page.keyboard.press('Control+k');
    const menu = page.getByRole('dialog', { name: 'Go to or search' });
    for (const [name = ''] of SETTINGS)
      await menu
        .getByRole('option', { name: new RegExp(`^${name}`) })
        .first()
        .waitFor();
    await menu.getByRole('combobox').fill('dead letters');
    await page.keyboard.press('Enter');
    await heading('Dead-lettered records');
  });

  test('each former address leads to the present page, with its search and hash', async () => {
    for (const [former, present] of Object.entries(FORMER_PATHS)) {
      await page.goto(`${installation.url}/p/${projectId}/${former}?filter=x`);
      await page.waitForURL((url) => url.pathname === `/p/${projectId}/${present}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.getByText('This page does not exist').count()).toBe(0);
    }
    await page.goto(`${installation.url}/p/${projectId}/live?filter=type%3Aevent`);
    await heading('Live activity');
    expect(new URL(page.url()).searchParams.get('filter')).toBe('type:event');
    await page.goto(`${installation.url}/p/${projectId}/sequences/welcome`);
    await heading('welcome');
    expect(pathOf()).toBe('rules/welcome');
  });

  test('the page of one item leads to its list, and every screen to its documentation', async () => {
    const paths = await screensOf(session, projectId);
    paths.push(`/p/${projectId}/settings/domains/mail.acme.test`, `/p/${projectId}/audiences/new`);
    let details = 0;
    for (const path of paths) {
      await navigateTo(page, path);
      const docs = page.getByRole('link', { name: 'Docs for this page' });
      const href = (await docs.getAttribute('href')) ?? '';
      expect(href, path).toMatch(/^\/guide\/[\w-]+\.html(#|$)/);
      const isDetail = /^\/p\/\d+\/(?:settings\/\w+\/.|(?!settings)[\w-]+\/.)/.test(path);
      const above = page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link');
      expect((await above.count()) > 0, path).toBe(isDetail);
      if (!isDetail) continue;
      details += 1;
      const target = (await above.last().getAttribute('href')) ?? '';
      await above.last().click();
      await page.waitForURL((url) => url.pathname === target);
      await settled(page);
    }
    expect(details).toBeGreaterThan(5);
  });

  test('the profile leads back to the project', async () => {
    await open('home');
    await page.goto(`${installation.url}/profile`);
    await heading('Profile and security');
    await page.getByRole('link', { name: /^Back to / }).click();
    await heading('Home');
  });

  test('on a phone, the sidebars are in the drawer, and nothing scrolls sideways', async () => {
    const { context, page: phone } = await newPerson(browser, { width: 390, height: 844 });
    await context.addCookies(cookies);
    await open('home', phone);
    const burger = phone.getByRole('button', { name: 'Navigation' });
    await burger.click();
    await rail('Screens', phone).getByRole('link', { name: 'Settings' }).click();
    await heading('Sender', phone);
    await burger.click();
    await rail('Settings', phone).getByRole('link', { name: 'API keys' }).click();
    await heading('API keys', phone);
    for (const screen of ['emails', 'dead-letters', 'settings/sandbox', 'users/ada']) {
      await open(screen, phone);
      const over = await phone.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([screen, over]).toEqual([screen, 0]);
    }
    await context.close();
  });

  describe('switch between production and sandbox', () => {
    const environment = (of = page): Locator => of.getByRole('group', { name: 'Environment' });
    const frameColor = (): Promise<string> =>
      page.evaluate<string>("getComputedStyle(document.querySelector('header')).backgroundColor");
    let sandboxId: number;

    test('creates the sandbox, and opens the same screen there', async () => {
      await open('audiences');
      const before = await frameColor();
      await environment().getByRole('button', { name: 'Sandbox' }).click();
      await page.getByRole('dialog', { name: 'Create sandbox' }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page
        .getByRole('dialog', { name: 'Create sandbox' })
        .getByRole('button', { name: 'Create sandbox' })
        .click();
      await environment().locator('[aria-current="true"]', { hasText: 'Sandbox' }).waitFor();
      expect(pathOf()).toBe('audiences');
      sandboxId = Number(/\/p\/(\d+)\//.exec(page.url())?.[1]);
      expect(sandboxId).not.toBe(projectId);
      expect(await frameColor()).not.toBe(before);
    });

    test('shows the test clock in the bar, and advances it', async () => {
      const clock = page.getByRole('group', { name: 'Test clock' });
      await clock.getByRole('button', { name: 'Advance clock' }).click();
      await page.getByRole('menuitem', { name: '7 days' }).click();
      await clock.getByText('7 d ahead').waitFor();
      await open('settings/sandbox', page, sandboxId);
      await page.getByRole('main').getByText('7 d ahead').waitFor();
    });

    test.each([false, true])('has no accessibility violations in the sandbox (dark: %s)', async (dark) => {
      const { context, page: other } = await newPerson(browser, { dark });
      await context.addCookies(cookies);
      for (const screen of ['emails', 'settings/sandbox']) {
        await open(screen, other, sandboxId);
        expect(await violationsOf(other)).toEqual([]);
      }
      await context.close();
    });

    test('leads from an item to its list in production', async () => {
      await open('rules', page, sandboxId);
      await page.getByRole('main').getByRole('link', { name: 'welcome' }).first().click();
      await heading('welcome');
      await environment().getByRole('link', { name: 'Production' }).click();
      await page.waitForURL((url) => url.pathname === `/p/${projectId}/rules`);
      await environment().locator('[aria-current="true"]', { hasText: 'Production' }).waitFor();
      expect(await page.getByRole('group', { name: 'Test clock' }).count()).toBe(0);
    });
  });

  test('the pages above log no errors', () => {
    expect(pageErrors).toEqual([]);
  });
});
