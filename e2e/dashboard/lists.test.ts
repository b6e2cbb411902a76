import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { serverWith } from '../kit/public-api.ts';
import { type Session, sessionOf, signedIn } from '../kit/session.ts';

const USERS = 40;

/** Remembers the column heads that the page has shown since it was loaded. */
const REMEMBER_HEADS = `{
  globalThis.headsShown = new Set();
  new MutationObserver(() => {
    for (const head of document.querySelectorAll('[role="columnheader"]')) headsShown.add(head.textContent);
  }).observe(document, { subtree: true, childList: true });
}`;

describe.skipIf(!hasBrowser)('lists in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session;
  let projectId: number;
  /** Another member of the project, in another browser. */
  let grace: { page: Page; pageErrors: string[] };
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const owner = await newPerson(browser, { width: 1440, height: 900 });
    ({ page, pageErrors } = owner);
    ({ projectId, ...session } = await signedIn(owner.context, installation));
    const post = await keyOf();
    for (let n = 0; n < USERS; n += 1) await post('users', userOf(n));
    for (const n of [1, 2, 3])
      await post('events', {
        external_user_id: idOf(n),
        name: n === 3 ? 'closed' : 'opened',
        properties: { seats: n },
      });
    const base = `/projects/${projectId}`;
    for (let n = 0; n < 6; n += 1)
      await session.request('POST', `${base}/suppressions`, { email: `gone${n}@example.com` });
    const definition = { trait: 'plan', equals: 'pro' };
    await session.request('POST', `${base}/audiences`, { name: 'Paying', definition });
    await session.request('POST', `${base}/imports`, { kind: 'users', name: 'a.csv', size_bytes: 10 });
    // The stream shows an event when it is processed, and then the catalog has it.
    await page.goto(`${installation.url}/p/${projectId}/activity`);
    await page.getByRole('table', { name: 'Activity' }).getByText('closed').first().waitFor();
    grace = await memberBeside();
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const idOf = (n: number): string => `user_${String(n).padStart(2, '0')}`;
  const userOf = (n: number): object => ({
    external_user_id: idOf(n),
    email: `${n === 7 ? 'omar' : 'someone'}.${n}@example.com`,
    traits: { name: n === 7 ? 'Omar Haddad' : `Person ${n}`, plan: n % 4 === 0 ? 'pro' : 'trial' },
  });

  async function keyOf() {
    const made = await session.request<{ data: { secret: string } }>('POST', `/projects/${projectId}/keys`, {
      label: 'Server',
    });
    return serverWith(made.data.secret, installation);
  }

  async function memberBeside(): Promise<{ page: Page; pageErrors: string[] }> {
    const invite = { email: 'grace@example.com', role: 'editor' };
    const { data } = await session.request<{ data: { link: string } }>(
      'POST',
      `/projects/${projectId}/invites`,
      invite,
    );
    const second = await newPerson(browser);
    await sessionOf(second.context, installation).request('POST', '/invites/accept', {
      token: new URL(data.link).searchParams.get('token'),
      name: 'Grace',
      password: 'in a quiet harbour',
    });
    return second;
  }

  const open = async (path: string, of = page): Promise<void> => {
    await of.goto(`${installation.url}/p/${projectId}/${path}`);
    await of.locator('h1').first().waitFor();
    await of.getByRole('combobox', { name: /^Filter/ }).waitFor();
  };
  const filter = (of = page): Locator => of.getByRole('combobox', { name: /^Filter/ });
  const chips = (of = page): Locator => of.getByRole('list', { name: 'Filters' }).getByRole('listitem');
  const option = (name: string): Locator => page.getByRole('option', { name });
  const rows = (table: string, of = page): Locator =>
    of.getByRole('table', { name: table, exact: true }).locator('[role="row"][data-row]');
  const count = (table: string, text: string, of = page): Promise<void> =>
    of.getByLabel(`${table}, count`).filter({ hasText: text }).waitFor();
  const isFocused = async (): Promise<boolean> => (await filter().and(page.locator(':focus')).count()) === 1;
  const filterInUrl = (of = page): string | null => new URL(of.url()).searchParams.get('filter');

  describe('filter', () => {
    test('searches bare words', async () => {
      await open('users');
      await count('Users', `${USERS} in total`);
      await filter().fill('HADDAD omar');
      await count('Users', '1 in total');
      expect(await rows('Users').first().textContent()).toContain('user_07');
      expect(await chips().count()).toBe(0);
    });

    test('completes a key and a value with the keyboard, as a chip that is in the URL', async () => {
      await open('users');
      await filter().waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('pl');
      await option('plan:').waitFor();
      expect(await filter().getAttribute('aria-expanded')).toBe('true');
      expect(await violationsOf(page, 'all')).toEqual([]);
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => filter().getAttribute('aria-activedescendant')).not.toBeNull();
      const active = await filter().getAttribute('aria-activedescendant');
      expect(await page.locator(`[id="${active}"]`).textContent()).toContain('plan:');
      await page.keyboard.press('Enter');
      expect(await filter().inputValue()).toBe('plan:');
      await option('pro').waitFor();
      await page.keyboard.type('p');
      await expect.poll(() => page.getByRole('option').count()).toBe(1);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await chips().filter({ hasText: 'plan: pro' }).waitFor();
      expect(await filter().inputValue()).toBe('');
      await count('Users', '10 in total');
      expect(filterInUrl()).toBe('plan:pro');
    });

    test('shows a shared filter as chips, with negated ones marked, and keeps its text', async () => {
      await open('users?filter=someone+-plan%3Atrial+email%3A*%40example.com');
      await count('Users', '10 in total');
      expect(await chips().allTextContents()).toEqual(['notplan: trial', 'email: *@example.com']);
      expect(await filter().inputValue()).toBe('someone');
      expect(filterInUrl()).toBe('someone -plan:trial email:*@example.com');
    });

    test('removes a chip with its button, the last one with Backspace, and edits one', async () => {
      await open('users?filter=plan%3Apro+-user%3Auser_04');
      await count('Users', '9 in total');
      await page.getByRole('button', { name: 'Remove filter plan:pro' }).click();
      await count('Users', `${USERS - 1} in total`);
      expect(await isFocused()).toBe(true);
      await page.keyboard.press('Backspace');
      await count('Users', `${USERS} in total`);
      expect(filterInUrl()).toBeNull();
      await filter().fill('user:user_05 ');
      await page.getByRole('button', { name: 'Edit filter user:user_05' }).click();
      expect(await filter().inputValue()).toBe('user:user_05');
      await page.keyboard.press('Backspace');
      await page.keyboard.type('6');
      await page.keyboard.press('Enter');
      await chips().filter({ hasText: 'user_06' }).waitFor();
      await count('Users', '1 in total');
    });

    test('closes its suggestions with Esc, and then leaves the input', async () => {
      await open('users');
      await filter().click();
      await option('plan:').waitFor();
      await page.keyboard.press('Escape');
      await option('plan:').waitFor({ state: 'detached' });
      expect(await isFocused()).toBe(true);
      await page.keyboard.press('Escape');
      expect(await isFocused()).toBe(false);
    });

    test('keeps the rows beside an error', async () => {
      await open('users?filter=plan%3Apro');
      await count('Users', '10 in total');
      await filter().fill('colour:red');
      await page.keyboard.press('Enter');
      await page.getByText(/"colour" at character \d+ is not a key/).waitFor();
      expect(await rows('Users').count()).toBe(10);
      expect(await filter().getAttribute('aria-invalid')).toBe('true');
    });

    test.each([
      ['audiences', 'Audiences', 'PAYING'],
      ['events', 'Events', 'opened'],
      ['templates', 'Templates', 'WELCOME'],
      ['suppressions', 'Suppressions', 'gone3'],
      ['requests', 'Requests', 'EVENTS'],
      ['imports', 'Imports', 'a.csv'],
      ['audit', 'Audit log', 'suppression.add'],
    ])('searches words in %s', async (screen, table, word) => {
      await open(screen);
      await rows(table).first().waitFor();
      await filter().fill('no such word');
      await page.getByText(/match this filter|entries match/).waitFor();
      await filter().fill(word);
      await rows(table).first().waitFor();
    });
  });

  describe('saved views', () => {
    test('are saved, opened by another member, renamed and deleted', async () => {
      await open('users?filter=plan%3Apro');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitem', { name: 'Save as view…' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Paying users');
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByRole('button', { name: 'Views: Paying users' }).waitFor();

      await open('users', grace.page);
      await grace.page.getByRole('button', { name: 'Views' }).click();
      await grace.page.getByRole('menuitem', { name: /^Paying users/ }).click();
      await chips(grace.page).filter({ hasText: 'plan: pro' }).waitFor();
      await count('Users', '10 in total', grace.page);
      await grace.page.getByRole('button', { name: 'Views: Paying users' }).click();
      await grace.page.getByRole('menuitem', { name: 'Rename Paying users…' }).click();
      await grace.page.getByRole('textbox', { name: 'Name' }).fill('Customers');
      await grace.page.getByRole('button', { name: 'Rename view' }).click();
      await grace.page.getByRole('button', { name: 'Views: Customers' }).click();
      await grace.page.getByRole('menuitem', { name: 'Delete Customers' }).click();
      await grace.page.getByText('View Customers deleted').waitFor();

      await open('users?filter=plan%3Apro');
      await page.getByRole('button', { name: 'Views', exact: true }).click();
      expect(await page.getByRole('menuitem', { name: /Customers|Paying/ }).count()).toBe(0);
      expect(grace.pageErrors).toEqual([]);
    });

    test('of one list are not offered in another', async () => {
      await open('suppressions?filter=reason%3Amanual+kind%3Aemail');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitem', { name: 'Save as view…' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('By hand');
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByRole('button', { name: 'Views: By hand' }).waitFor();
      await open('emails');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitem', { name: /^Bounced/ }).waitFor();
      expect(await page.getByRole('menuitem', { name: /^By hand/ }).count()).toBe(0);
    });
  });

  describe('order and columns', () => {
    test('sort on the server, with the order in the URL', async () => {
      await open('users');
      const head = page.getByRole('columnheader', { name: 'User', exact: true });
      expect(await head.getAttribute('aria-sort')).toBe('ascending');
      await head.getByRole('button').click();
      await expect.poll(() => head.getAttribute('aria-sort')).toBe('descending');
      await expect.poll(() => rows('Users').first().textContent()).toContain(idOf(USERS - 1));
      expect(new URL(page.url()).searchParams.get('sort')).toBe('-user');
      await page.reload();
      await expect.poll(() => rows('Users').first().textContent()).toContain(idOf(USERS - 1));
      await page.getByRole('columnheader', { name: 'First seen' }).getByRole('button').click();
      await expect.poll(() => new URL(page.url()).searchParams.get('sort')).toBe('-first');
    });

    test('hide a column and make rows compact, for this member in this browser', async () => {
      await open('users');
      const column = page.getByRole('columnheader', { name: 'Company' });
      await column.waitFor();
      const height = async (): Promise<number> => (await rows('Users').first().boundingBox())?.height ?? 0;
      const before = await height();
      await page.getByRole('button', { name: 'Display' }).click();
      await page.getByRole('menuitemcheckbox', { name: 'Company' }).click();
      await column.waitFor({ state: 'detached' });
      await page.getByRole('menuitemcheckbox', { name: 'Compact rows' }).click();
      await expect.poll(height).toBeLessThan(before);
      expect(await violationsOf(page, 'all')).toEqual([]);
      await page.addInitScript(REMEMBER_HEADS);
      await page.reload();
      await rows('Users').first().waitFor();
      const heads = await page.evaluate<string[]>('[...headsShown]');
      expect(heads).toContain('Email');
      expect(heads).not.toContain('Company');
      expect(await column.count()).toBe(0);
      expect(await height()).toBeLessThan(before);
      await page.getByRole('button', { name: 'Display' }).click();
      await page.getByRole('menuitemcheckbox', { name: 'Company' }).click();
      await column.waitFor();
    });
  });

  describe('bulk removal of suppressions', () => {
    test('removes the selected ones after their number was typed, and says how many', async () => {
      await open('suppressions');
      await count('Suppressions', '6 in total');
      for (const n of [1, 2, 3]) await page.getByLabel(`Select row ${n} of Suppressions`).check();
      await page.getByRole('button', { name: 'Remove 3…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Remove 3 suppressions' });
      const action = dialog.getByRole('button', { name: 'Remove 3 suppressions' });
      await dialog.getByLabel(/to confirm$/).fill('3');
      expect(await action.isDisabled()).toBe(true);
      expect(await violationsOf(page, 'all')).toEqual([]);
      // Another member removes one of them in the meantime.
      await session.request('POST', `/projects/${projectId}/suppressions/remove-many`, {
        entries: [{ kind: 'email', value: 'gone0@example.com' }],
        confirm: 1,
        reason: 'mistake',
      });
      await dialog.getByRole('combobox', { name: 'Reason' }).click();
      await page.getByRole('option', { name: 'Suppressed by mistake' }).click();
      await action.click();
      await page
        .getByText('2 suppressions removed. 1 refused: The entry is no longer in the list.')
        .waitFor();
      await count('Suppressions', '3 in total');
    });
  });

  describe('CSV', () => {
    test.each([
      ['users?filter=plan%3Apro&sort=-user', 'Users'],
      ['audiences', 'Audiences'],
      ['events', 'Events'],
      ['templates?filter=welcome', 'Templates'],
      ['suppressions?filter=kind%3Aemail&sort=-since', 'Suppressions'],
      ['imports', 'Imports'],
    ])('of %s has the rows that are shown, in their order', async (path, table) => {
      await open(path);
      await rows(table).first().waitFor();
      const shown = await rows(table).locator('[class*="opener"]').allTextContents();
      expect(shown.length).toBe(await rows(table).count());
      const lines = (await downloaded()).slice(1);
      expect(lines.length).toBe(shown.length);
      for (const [at, name] of shown.entries()) expect(lines[at]).toContain(name.replace(/Users.*$/, ''));
    });

    test.each([
      ['requests', 'Requests'],
      ['audit?filter=action%3Asuppression.*', 'Audit log'],
      ['test-inbox', 'Emails in the test inbox'],
    ])('of %s has as many rows as are shown', async (path, table) => {
      await open(path);
      await rows(table).first().waitFor();
      await page.getByLabel(`${table}, count`).waitFor();
      expect((await downloaded()).slice(1).length).toBe(await rows(table).count());
    });

    test.each(['emails', 'replies'])('of the empty list %s has only its heads', async (path) => {
      await open(path);
      expect(await downloaded()).toHaveLength(1);
    });

    /** The lines of the file behind the CSV button. */
    async function downloaded(): Promise<string[]> {
      const href = await page.getByRole('link', { name: 'CSV', exact: true }).getAttribute('href');
      const response = await page.context().request.get(`${installation.url}${href}`);
      expect(response.status()).toBe(200);
      return (await response.text()).trimEnd().split('\n');
    }
  });

  test('fits on a phone, where Display sorts', async () => {
    const phone = await newPerson(browser, { width: 390, height: 844 });
    onTestFinished(() => phone.context.close());
    await phone.context.addCookies(await page.context().cookies());
    await open('users?filter=plan%3Apro', phone.page);
    await count('Users', '10 in total', phone.page);
    await phone.page.getByRole('button', { name: 'Display' }).click();
    await phone.page.getByRole('menuitemcheckbox', { name: 'Descending' }).click();
    await expect.poll(() => rows('Users', phone.page).first().textContent()).toContain('user_36');
    const over = await phone.page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(over).toBeLessThanOrEqual(0);
    expect(phone.pageErrors).toEqual([]);
  });

  test('logs no error in the browser', () => {
    expect(pageErrors).toEqual([]);
  });
});
