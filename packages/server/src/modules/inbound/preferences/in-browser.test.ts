import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { preferencesServer, linkOf } from '../../../../testing/servers/preferences-server.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { newScenario, openStage } from '../../../../testing/scenario.ts';
import { isLanguage, LANGUAGES } from '../../../platform/recipient-texts/languages.ts';
import type { EmailPreferences } from './show-preferences.ts';
import { choicesPage, noticePage } from './page.ts';

/** Skipped, and reported as skipped, if the system has no Chromium. */
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
];

const STANDING: EmailPreferences = {
  projectName: 'Acme Analytics and Everything Else That Has a Very Long Name',
  timeZone: 'Asia/Kolkata',
  userLocale: null,
  projectLocale: 'en',
  address: `ada.${'w'.repeat(50)}@${'x'.repeat(60)}.example.org`,
  emails: { are: 'subscribed' },
  topics: [
    { id: 'news', title: 'Product news', isRefused: false },
    { id: 'tips', title: `Tips and ${'t'.repeat(70)}`, isRefused: true },
  ],
};
const STATES: EmailPreferences['emails'][] = [
  { are: 'subscribed' },
  { are: 'unsubscribed' },
  { are: 'snoozed', until: Date.UTC(2027, 0, 2) },
  { are: 'stopped', because: 'bounces' },
  { are: 'stopped', because: 'sender' },
];

/** Every page, by name. */
function pagesIn(language: keyof typeof LANGUAGES): [string, string][] {
  const address = { language, path: '/u/x', query: '' };
  const notices = ['gone', 'unknown', 'refused', 'failed'] as const;
  return [
    ...STATES.map((emails): [string, string] => [
      JSON.stringify(emails),
      choicesPage(address, { ...STANDING, emails }, null),
    ]),
    ['saved', choicesPage(address, STANDING, 'topicsSaved')],
    ['back', choicesPage(address, { ...STANDING, topics: [] }, 'resubscribed')],
    ...notices.map((notice): [string, string] => [notice, noticePage({ language, path: '/u/x' }, notice)]),
  ];
}

type AxeResult = { violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] };

async function violationsOn(page: Page): Promise<unknown[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run({ preload: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  );
  return violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]);
}

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ARGS });
  }, 60_000);
  afterAll(() => browser.close());

  async function withPage(
    options: BrowserContextOptions,
    look: (page: Page) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(options);
    try {
      await look(await context.newPage());
    } finally {
      await context.close();
    }
  }

  test.each([
    ['en', 'light'],
    ['en', 'dark'],
    ['de', 'light'],
    ['de', 'dark'],
    ['ar', 'light'],
  ] as const)(
    'has no axe findings on any page in %s, %s',
    async (language, colorScheme) => {
      await withPage({ colorScheme }, async (page) => {
        for (const [name, html] of pagesIn(language)) {
          await page.setContent(html);
          expect([name, await violationsOn(page)]).toEqual([name, []]);
        }
      });
    },
    60_000,
  );

  test('never scrolls sideways on a phone or at 200 % of a narrow window, in any language', async () => {
    await withPage({ viewport: { width: 320, height: 600 }, deviceScaleFactor: 2 }, async (page) => {
      for (const language of Object.keys(LANGUAGES).filter(isLanguage))
        for (const [name, html] of pagesIn(language)) {
          await page.setContent(html);
          const sideways = await page.evaluate<number>(
            `document.documentElement.scrollWidth - document.documentElement.clientWidth`,
          );
          expect([language, name, sideways]).toEqual([language, name, 0]);
        }
    });
  }, 60_000);

  test('works without script, by keyboard alone, and keeps its style under its policy', async () => {
    const stage = await openStage();
    const server = await preferencesServer(stage.server.db);
    const scenario = await newScenario(stage);
    await scenario.set({ topics: 'news:Product news,tips:Tips and tricks', quiet_hours: 'off' });
    await scenario.user('ada', { email: 'ada@x.org' });
    await scenario.rule({
      name: 'r',
      when: { event: 'go' },
      steps: [{ draft: { subject: 'Hi', body: 'Hi.' } }],
    });
    await scenario.event('ada', 'go');
    await scenario.later(3 * HOUR);
    const link = server.url + (await linkOf(scenario, 'ada'));
    await withPage({ javaScriptEnabled: false, locale: 'en-GB' }, async (page) => {
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      await page.goto(link);
      expect(
        await page.evaluate<string>(`getComputedStyle(document.querySelector('main')).borderTopLeftRadius`),
      ).toBe('16px');
      await page.getByLabel('Product news').press('Space');
      await page.getByRole('button', { name: 'Save preferences' }).press('Enter');
      expect(await page.getByRole('status').innerText()).toContain('Your preferences have been saved.');
      expect(await page.getByLabel('Product news').isChecked()).toBe(false);
      expect(await page.getByLabel('Tips and tricks').isChecked()).toBe(true);
      await page.getByRole('button', { name: '60 days' }).press('Enter');
      expect(await page.title()).toBe('Your emails are paused');
      await page.getByRole('button', { name: 'Resume emails now' }).press('Enter');
      await page.getByRole('button', { name: 'Unsubscribe from all' }).press('Enter');
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('You are unsubscribed');
      await page.getByRole('link', { name: 'Deutsch' }).press('Enter');
      await page.getByRole('button', { name: 'Wieder anmelden' }).press('Enter');
      expect(await page.getByRole('status').innerText()).toContain('Sie sind wieder angemeldet.');
      expect(complaints).toEqual([]);
    });
    await server.stop();
  }, 60_000);
});
