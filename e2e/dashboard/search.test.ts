import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasBrowser } from '../kit/browser.ts';
import { type OwnerInBrowser, ownerInBrowser } from '../kit/owner-in-browser.ts';

const ENDPOINT = 'https://hooks.acme.test/in';

describe.skipIf(!hasBrowser)('command menu in Chromium', () => {
  let owner: OwnerInBrowser;
  beforeAll(async () => {
    owner = await ownerInBrowser();
    const { post, session, project } = owner;
    await post('users', {
      external_user_id: 'user_1026',
      email: 'omar@example.com',
      traits: { name: 'Omar Haddad' },
    });
    await post('events', { external_user_id: 'user_1026', name: 'user_signed_up' });
    const definition = { trait: 'plan', equals: 'pro' };
    await session.request('POST', `${project}/audiences`, { name: 'Paying customers', definition });
    await session.request('POST', `${project}/webhooks`, { url: ENDPOINT });
    type Listed = { meta: { pagination: { total: number } } };
    await vi.waitFor(
      async () => {
        const { meta } = await session.request<Listed>('GET', `${project}/drafts?view=review`);
        expect(meta.pagination.total).toBe(1);
      },
      { timeout: 20_000 },
    );
  }, 120_000);
  afterAll(() => owner.close());

  const dialog = (): Locator => owner.page.getByRole('dialog', { name: 'Go to or search' });
  const option = (group: string, name: string | RegExp): Locator =>
    dialog().getByRole('group', { name: group }).getByRole('option', { name });
  const field = (): Locator => dialog().getByRole('combobox');
  async function open(): Promise<void> {
    await owner.page.goto(`${owner.url}/p/${owner.projectId}/home`);
    await owner.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await owner.page.keyboard.press('ControlOrMeta+k');
    await field().waitFor();
  }

  test.each(['user_1026', 'omar@example', 'haddad'])('finds a user by %s, and opens it', async (text) => {
    await open();
    await field().fill(text);
    await option('Users', /Omar Haddad.*omar@example\.com · user_1026/).waitFor();
    await owner.page.keyboard.press('Enter');
    await owner.page.waitForURL('**/users/user_1026');
  });

  test.each([
    ['welcome', 'Rules', 'rules/'],
    ['welcome to', 'Emails', 'drafts/'],
    ['paying', 'Audiences', 'audiences/'],
    ['welcome', 'Templates', 'templates/welcome'],
    ['signed_up', 'Events', 'events?event=user_signed_up'],
    ['hooks.acme', 'Webhook endpoints', 'webhooks/'],
  ])('finds %s among %s, and opens it', async (text, group, path) => {
    await open();
    await field().fill(text);
    await option(group, /./).first().click();
    await owner.page.waitForURL((url) => `${url.pathname}${url.search}`.includes(`/${path}`));
  });

  test('lists what was opened last, and moves by keyboard', async () => {
    await open();
    await option('Recent', /hooks\.acme/).waitFor();
    expect(await field().getAttribute('aria-activedescendant')).toBe(
      await option('Recent', /hooks\.acme/).getAttribute('id'),
    );
    await owner.page.keyboard.press('ArrowDown');
    await owner.page.keyboard.press('Enter');
    await owner.page.waitForURL((url) => url.search === '?event=user_signed_up');
  });

  test('shows that nothing was found, and a failure as a failure', async () => {
    const { page, pageErrors } = owner;
    await open();
    await field().fill('nothing is called this');
    await dialog().getByText('No results.').waitFor();
    await page.route('**/search?**', (route) =>
      route.fulfill({ status: 500, json: { errors: [{ code: 'server_error', message: 'Broken' }] } }),
    );
    await field().fill('haddad');
    await dialog().getByRole('alert').filter({ hasText: 'Search failed' }).waitFor();
    expect(await dialog().getByText('No results.').count()).toBe(0);
    await page.unroute('**/search?**');
    await dialog().getByRole('button', { name: 'Retry' }).click();
    await option('Users', /Omar Haddad/).waitFor();
    expect(pageErrors).toEqual([]);
  });
});
