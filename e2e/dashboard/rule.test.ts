import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasBrowser } from '../kit/browser.ts';
import { type OwnerInBrowser, ownerInBrowser } from '../kit/owner-in-browser.ts';
import type { CustomerServer } from '../kit/public-api.ts';
import type { Session } from '../kit/session.ts';

describe.skipIf(!hasBrowser)('rule editor in Chromium', () => {
  let owner: OwnerInBrowser;
  let page: Page;
  let session: Session;
  let project: string;
  let post: CustomerServer;
  beforeAll(async () => {
    owner = await ownerInBrowser();
    ({ page, session, project, post } = owner);
  }, 120_000);
  afterAll(() => owner.close());

  async function exports(user: string, plan: string): Promise<void> {
    const traits = { name: user, plan };
    await post('users', { external_user_id: user, email: `${user}@example.com`, traits });
    expect(await post('events', { external_user_id: user, name: 'report_exported' })).toBe(202);
  }
  /** Waits until an accepted user is processed, which takes a moment. */
  async function seen(user: string): Promise<void> {
    await vi.waitFor(() => session.request('GET', `${project}/users/${user}`), { timeout: 20_000 });
  }

  test('writes a rule in sentences, backtests it, saves it, enables it, and finds its draft in Review', async () => {
    await exports('ada', 'trial');
    await exports('grace', 'pro');
    await Promise.all([seen('ada'), seen('grace')]);

    await page.goto(`${owner.url}/p/${owner.projectId}/rules`);
    await page.getByRole('link', { name: 'New rule' }).click();
    await page.getByLabel('Name', { exact: true }).fill('First report');
    await page.getByRole('combobox', { name: 'Event' }).fill('report_exported');
    const onlyIf = page.getByRole('region', { name: 'Only if' });
    await onlyIf.getByRole('button', { name: 'Add condition' }).click();
    await onlyIf.getByRole('combobox', { name: 'Trait', exact: true }).fill('plan');
    await onlyIf.getByRole('combobox', { name: 'Trait: value', exact: true }).fill('trial');
    await page.getByText('Step 1: write a subject').first().waitFor();
    await page.getByLabel('Subject').fill('Your first report');
    await page.getByRole('textbox', { name: 'Body' }).click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('It is ready to be shared.');
    await page
      .getByText(/report_exported happens.*plan is trial/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Create rule' }).click();
    await page.getByRole('heading', { level: 1, name: 'First report' }).waitFor();
    await page.getByText('Disabled', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: /^Email Your first report/ }).waitFor();

    await page.getByText('Form', { exact: true }).click();
    await page
      .getByRole('region', { name: 'Only if' })
      .getByRole('button', { name: 'Remove condition' })
      .click();
    await page.getByText('Creates version 2').waitFor();
    await page.getByRole('tab', { name: 'Backtest' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('+1 users would newly be enrolled').waitFor();
    await page.getByRole('link', { name: 'grace' }).first().waitFor();
    await page.getByText('Your first report').first().waitFor();

    await page.getByRole('tab', { name: 'Rule', exact: true }).click();
    await page.getByRole('button', { name: 'Save rule…' }).click();
    const saving = page.getByRole('dialog', { name: 'Save this rule?' });
    await saving.getByText('Summary of version 2:').waitFor();
    await saving.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Enable…' }).click();
    const enabling = page.getByRole('dialog', { name: 'Enable First report' });
    await enabling.getByText('Your first report').waitFor();
    await enabling.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByRole('button', { name: 'Disable…' }).waitFor();
    await exports('linus', 'trial');

    await page
      .getByRole('link', { name: /^Review/ })
      .first()
      .click();
    await page.getByText('Your first report').first().waitFor();
    await page.frameLocator('iframe').first().getByText('It is ready to be shared.').waitFor();
    await page.getByText('linus').first().waitFor();
    expect(owner.pageErrors).toEqual([]);
  });

  test('new rule › marks what is missing in words of the form, moves the focus there, and clears each error', async () => {
    await page.goto(`${owner.url}/p/${owner.projectId}/rules/new`);
    await page.getByRole('button', { name: 'Create rule' }).click();
    const name = page.getByLabel('Name', { exact: true });
    await page.getByText('Enter a name').first().waitFor();
    const focused = (): Promise<string> =>
      page.evaluate<string>(
        'document.activeElement?.closest("[class*=InputWrapper-root]")?.textContent ?? ""',
      );
    await expect.poll(focused).toContain('Enter a name');
    const event = page.getByRole('combobox', { name: 'Event' });
    expect(await event.getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('button', { name: 'Trigger 1: choose an event' }).click();
    await expect.poll(focused).toContain('Choose an event');

    await name.fill('Trial nudge');
    await page.getByText('Enter a name').first().waitFor({ state: 'detached' });
    await event.fill('report_exported');
    await page.getByText('Choose an event').first().waitFor({ state: 'detached' });
    await page.getByLabel('Subject').fill('Your trial');
    await page.getByText('Fix these errors').waitFor({ state: 'detached' });
  });

  test('new rule › warns about a goal that is also a condition, and starts with another one', async () => {
    const onlyIf = page.getByRole('region', { name: 'Only if' });
    await onlyIf.getByRole('button', { name: 'Add condition' }).click();
    await page.getByRole('button', { name: 'Exits and goal' }).click();
    await page.getByRole('button', { name: 'Set a goal' }).click();
    await page.getByText('Goal: choose an event').first().waitFor();
    const warning = page.getByText('The goal is also a condition').first();
    expect(await warning.count()).toBe(0);

    // New conditions are this one.
    await onlyIf.getByRole('combobox', { name: 'Trait', exact: true }).waitFor();
    const goal = page.getByRole('region', { name: 'Exits and goal' });
    await goal.getByRole('combobox', { name: 'Condition type' }).selectOption('trait');
    await goal.getByRole('combobox', { name: 'Trait', exact: true }).fill('plan');
    await goal.getByRole('combobox', { name: 'Trait: value', exact: true }).fill('trial');
    await warning.waitFor();
    await goal.getByRole('combobox', { name: 'Trait: value', exact: true }).fill('pro');
    await warning.waitFor({ state: 'detached' });
  });

  test('new rule › shows a failed check, and creates nothing without another click', async () => {
    const posted: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/rules')) posted.push(request.url());
    });
    await page.route('**/rules/check', (route) => route.fulfill({ status: 503, body: '' }));
    await page.goto(`${owner.url}/p/${owner.projectId}/rules/new?event=report_exported`);
    const failed = page.getByText('The rule could not be checked');
    await failed.waitFor();
    const create = page.getByRole('button', { name: 'Create rule' });
    const checked = page.waitForResponse('**/rules/check');
    await create.click();
    await checked;
    await failed.waitFor();
    await page.unroute('**/rules/check');
    await page.getByLabel('Subject').fill('Your export');
    await failed.waitFor({ state: 'detached' });
    await page
      .getByText(/report_exported happens/)
      .first()
      .waitFor();
    expect(posted).toEqual([]);
    await create.click();
    await page.getByRole('heading', { level: 1, name: 'After report_exported' }).waitFor();
    expect(posted).toHaveLength(1);
  });
});
