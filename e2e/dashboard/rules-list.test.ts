import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { serverWith } from '../kit/public-api.ts';
import { type Session, signedIn } from '../kit/session.ts';

/** The lists that got the shared filter, views and CSV last: rules, with its bulk actions, and the lists of settings and tabs. */
describe.skipIf(!hasBrowser)('rules and settings lists in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session;
  let projectId: number;
  let audience: string;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const owner = await newPerson(browser, { width: 1440, height: 900 });
    ({ page, pageErrors } = owner);
    ({ projectId, ...session } = await signedIn(owner.context, installation));
    const base = `/projects/${projectId}`;
    const made = await session.request<{ data: { secret: string } }>('POST', `${base}/keys`, {
      label: 'Web server',
    });
    const draft = { subject: 'Hello', body: 'Hello' };
    for (const name of ['Alpha', 'Beta'])
      await session.request('POST', `${base}/rules`, {
        document: { name, when: { event: 'report_opened' }, mode: 'draft', steps: [{ draft }] },
      });
    await session.request('POST', `${base}/rules/Alpha/switch`, { on: true });
    const post = serverWith(made.data.secret, installation);
    const user = {
      external_user_id: 'ada',
      email: 'ada@example.com',
      traits: { name: 'Ada Wong', plan: 'pro' },
    };
    await post('users', user);
    await post('users', {
      ...user,
      external_user_id: 'bob',
      email: 'bob@example.org',
      traits: { plan: 'pro' },
    });
    await post('events', { external_user_id: 'ada', name: 'report_opened', properties: {} });
    const { data } = await session.request<{ data: { id: string } }>('POST', `${base}/audiences`, {
      name: 'Paying',
      definition: { trait: 'plan', equals: 'pro' },
    });
    audience = data.id;
    await session.request('POST', `${base}/keys`, { label: 'Worker' });
    for (const name of ['mail.example.com', 'news.example.com'])
      await session.request('POST', `${base}/domains`, { name });
    for (const host of ['hooks', 'backup'])
      await session.request('POST', `${base}/webhooks`, { url: `https://${host}.example.com/in` });
    await session.request('POST', `${base}/invites`, { email: 'grace@example.com', role: 'editor' });
    await installation.sql(
      `INSERT INTO beckon.topic_unsubscribe (project_id, kind, value, topic, created_at)
       SELECT p.project_id, 'email', 'user' || n || '@example.com', CASE n WHEN 1 THEN 'news' ELSE 'tips' END, now()
       FROM beckon.project p CROSS JOIN generate_series(1, 4) n WHERE p.name = 'Acme'`,
    );
    // The rule enrolls Ada, and her draft is there.
    await page.goto(`${installation.url}/p/${projectId}/review`);
    await page.getByText('Hello').first().waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const open = async (path: string, of = page): Promise<void> => {
    await of.goto(`${installation.url}/p/${projectId}/${path}`);
    await of.getByRole('combobox', { name: /^Filter/ }).waitFor();
  };
  const filter = (of = page): Locator => of.getByRole('combobox', { name: /^Filter/ });
  const rows = (table: string, of = page): Locator =>
    of.getByRole('table', { name: table, exact: true }).locator('[role="row"][data-row]');
  const count = (table: string, text: string, of = page): Promise<void> =>
    of.getByLabel(`${table}, count`).filter({ hasText: text }).waitFor();
  const row = (name: string): Locator => rows('Rules').filter({ has: page.getByText(name, { exact: true }) });
  const csvLines = async (): Promise<string[]> => {
    const href = await page.getByRole('link', { name: 'CSV', exact: true }).getAttribute('href');
    const response = await page.context().request.get(`${installation.url}${href}`);
    expect(response.status()).toBe(200);
    return (await response.text()).trimEnd().split('\n');
  };
  const fits = async (of: Page): Promise<void> => {
    const over = await of.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(over).toBeLessThanOrEqual(0);
  };

  describe('rules', () => {
    test('are filtered by words, chips and common views, and the CSV has the same rows', async () => {
      await open('rules');
      await count('Rules', '6 in total');
      await filter().fill('report_opened');
      await count('Rules', '2 in total');
      await filter().fill('state:disabled ');
      await page.getByRole('list', { name: 'Filters' }).getByText('disabled').waitFor();
      await count('Rules', '1 in total');
      expect(await rows('Rules').first().textContent()).toContain('Beta');
      expect(await csvLines()).toHaveLength(2);
      await page.getByRole('button', { name: 'Views: Disabled' }).click();
      await page.getByRole('menuitem', { name: /^No activity/ }).click();
      await count('Rules', '4 in total');
      expect(new URL(page.url()).searchParams.get('filter')).toBe('state:enabled active:no');
      await open('rules?filter=event%3Areport_opened+active%3Ayes');
      await count('Rules', '1 in total');
      expect(await rows('Rules').first().textContent()).toContain('Alpha');
    });

    test('can be saved as a view', async () => {
      await open('rules?filter=event%3Areport_opened');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitem', { name: 'Save as view…' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Reports');
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByRole('button', { name: 'Views: Reports' }).waitFor();
    });

    test('are sorted by the server, and can be moved only in the order of priority', async () => {
      await open('rules');
      await row('Alpha').getByRole('button', { name: 'Actions for Alpha' }).click();
      await page.getByRole('menuitem', { name: 'Move up' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('columnheader', { name: 'Rule', exact: true }).getByRole('button').click();
      await expect.poll(() => rows('Rules').first().textContent()).toContain('Alpha');
      expect(new URL(page.url()).searchParams.get('sort')).toBe('name');
      await row('Alpha').getByRole('button', { name: 'Actions for Alpha' }).click();
      await page.getByRole('menuitem', { name: 'Disable…' }).waitFor();
      expect(await page.getByRole('menuitem', { name: 'Move up' }).count()).toBe(0);
      await page.keyboard.press('Escape');
    });

    test('hide columns and make rows compact', async () => {
      await open('rules');
      const column = page.getByRole('columnheader', { name: 'Goal' });
      await column.waitFor();
      await page.getByRole('button', { name: 'Display' }).click();
      await page.getByRole('menuitemcheckbox', { name: 'Goal' }).click();
      await column.waitFor({ state: 'detached' });
      await page.getByRole('menuitemcheckbox', { name: 'Goal' }).click();
      await column.waitFor();
      await page.keyboard.press('Escape');
    });

    test('are disabled and enabled in one action, with the reason of each refusal', async () => {
      await open('rules?sort=name');
      await page.getByRole('checkbox', { name: 'Select row 1 of Rules' }).check();
      await page.getByRole('checkbox', { name: 'Select row 2 of Rules' }).check();
      await page.getByRole('button', { name: 'Enable 1…' }).waitFor();
      await page.getByRole('button', { name: 'Disable 1…' }).click();
      const disabling = page.getByRole('dialog', { name: 'Disable 1 rule' });
      await disabling.getByText('Open drafts: 1.').waitFor();
      expect(await violationsOf(page, 'all')).toEqual([]);
      await disabling.getByRole('button', { name: 'Disable 1 rule' }).click();
      await page.getByText('1 rule disabled.').waitFor();
      await row('Alpha').getByText('Disabled').waitFor();

      await page.getByRole('checkbox', { name: 'Select row 1 of Rules' }).check();
      await page.getByRole('checkbox', { name: 'Select row 2 of Rules' }).check();
      await page.getByRole('button', { name: 'Enable 2…' }).click();
      const enabling = page.getByRole('dialog', { name: 'Enable 2 rules' });
      await enabling.getByText('which shows a backtest first').waitFor();
      await enabling.getByRole('button', { name: 'Enable 2 rules' }).click();
      await page
        .getByText(
          '1 rule enabled. 1 refused: The rule has not enrolled a user yet. Enable it on its page, which shows a backtest first (Beta).',
        )
        .waitFor();
      await row('Alpha').getByText('Drafts only').waitFor();
      await row('Beta').getByText('Disabled').waitFor();
      expect(await page.getByRole('button', { name: /^(En|Dis)able/ }).count()).toBe(0);
    });

    test('are enabled only as the member saw them', async () => {
      await session.request('POST', `/projects/${projectId}/rules/Alpha/switch`, { on: false });
      await open('rules?sort=name');
      await row('Alpha').getByText('Disabled').waitFor();
      await page.getByRole('checkbox', { name: 'Select row 1 of Rules' }).check();
      await page.getByRole('button', { name: 'Enable 1…' }).click();
      const enabling = page.getByRole('dialog', { name: 'Enable 1 rule' });
      await enabling.waitFor();
      await session.request('POST', `/projects/${projectId}/rules/Alpha/mode`, { mode: 'autopilot' });
      await enabling.getByRole('button', { name: 'Enable 1 rule' }).click();
      await page.getByText('The rule was changed since the list was loaded (Alpha)').waitFor();
      await row('Alpha').getByText('Disabled').waitFor();
      await session.request('POST', `/projects/${projectId}/rules/Alpha/switch`, { on: true });
    });

    test('are selected and disabled on a phone', async () => {
      const phone = await newPerson(browser, { width: 390, height: 844 });
      onTestFinished(() => phone.context.close());
      await phone.context.addCookies(await page.context().cookies());
      await open('rules', phone.page);
      await count('Rules', '6 in total', phone.page);
      await phone.page.getByRole('checkbox', { name: 'Select row 1 of Rules' }).check();
      await phone.page.getByRole('button', { name: 'Disable 1…' }).click();
      await phone.page.getByRole('dialog', { name: 'Disable 1 rule' }).waitFor();
      await fits(phone.page);
      expect(phone.pageErrors).toEqual([]);
    });
  });

  describe.each([
    { path: 'webhooks', table: 'Endpoints', word: 'BACKUP', key: 'state:enabled', all: 2 },
    { path: 'settings/domains', table: 'Domains', word: 'NEWS', key: 'state:pending', all: 2 },
    { path: 'settings/api-keys', table: 'API keys', word: 'WORKER', key: 'env:live', all: 2 },
    {
      path: 'suppressions?tab=topics',
      table: 'Unsubscribed topics',
      word: 'NEWS',
      key: 'kind:email',
      all: 4,
    },
    { path: 'settings/team', table: 'Members', word: 'ADA', key: 'role:owner', all: 1 },
    { path: 'rules/Alpha?tab=people', table: 'Active runs', word: 'ADA', key: 'state:active', all: 1 },
    { path: 'audiences/:audience?tab=members', table: 'Members', word: 'WONG', key: 'user:*', all: 2 },
  ])('$path', ({ path, table, word, key, all }) => {
    test('has a filter by words and keys, saved views, and a CSV of the same rows', async () => {
      await open(path.replace(':audience', audience));
      await count(table, `${all} in total`);
      expect(await csvLines()).toHaveLength(all + 1);
      await filter().fill('no such word');
      await page.getByText(/match this filter/).waitFor();
      await filter().fill(`${word} ${key} `);
      await count(table, '1 in total');
      expect(await csvLines()).toHaveLength(2);
      await page.getByRole('button', { name: /^Views/ }).click();
      await page.getByRole('menuitem', { name: 'Save as view…' }).waitFor();
      await page.keyboard.press('Escape');
      expect(await violationsOf(page, 'all')).toEqual([]);
    });

    test('fits on a phone', async () => {
      const phone = await newPerson(browser, { width: 390, height: 844 });
      onTestFinished(() => phone.context.close());
      await phone.context.addCookies(await page.context().cookies());
      await open(path.replace(':audience', audience), phone.page);
      await count(table, `${all} in total`, phone.page);
      await fits(phone.page);
      expect(phone.pageErrors).toEqual([]);
    });
  });

  test('Review has saved views and a CSV of the drafts to review and of the decided ones', async () => {
    await open('review');
    await page.getByText('Hello').first().waitFor();
    expect((await csvLines())[1]).toContain('ada@example.com');
    await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
    await open('review?view=decided');
    expect((await csvLines())[0]).toContain('action');
    await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
  });

  test('a filter suggests days of the project, and says so', async () => {
    await open('users');
    await filter().fill('seen:');
    await page.getByText('A day is a day in Europe/Berlin.').waitFor();
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin' }).format(new Date());
    await page.getByRole('option', { name: `${today} Today` }).click();
    await count('Users', '2 in total');
  });

  test('logs no error in the browser', () => {
    expect(pageErrors).toEqual([]);
  });
});
