import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  DeviceTokenResult,
  DeviceAuthorization,
  TokenState,
} from '../../packages/contract/src/dashboard/index.ts';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { OWNER } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { signedIn } from '../kit/session.ts';

describe.skipIf(!hasBrowser)('device approval page in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const { context } = await newPerson(browser);
    await signedIn(context, installation);
    await context.close();
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  /** Sends a request as a program does: without a cookie and without an origin. */
  async function program<T>(method: string, path: string, { token, body }: Sent = {}): Promise<T> {
    const response = await fetch(`${installation.url}/api/dashboard${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return ((await response.json()) as { data: T }).data;
  }
  type Sent = { token?: string; body?: object };

  const begin = (label: string): Promise<DeviceAuthorization> =>
    program('POST', '/device', { body: { label, scopes: ['read', 'review', 'edit', 'admin', 'import'] } });

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel('Email').fill(OWNER.email);
    await page.getByLabel('Password', { exact: true }).fill(OWNER.password);
    await page.keyboard.press('Enter');
  }

  test('the page of beckon login signs the member in once, lets them remove scopes, and approves the rest', async () => {
    const { page, pageErrors } = await newPerson(browser);
    const device = await begin('Ada’s laptop <b>');
    await page.goto(device.verification_url);
    await signIn(page);
    await page.getByText(device.user_code).waitFor();
    expect(await page.getByText('Ada’s laptop <b>').count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.getByRole('checkbox').count()).toBe(5);
    await page.getByText('Manage API keys, webhooks').waitFor();
    // Uses the mouse, because a dialog above the page would catch the click. The rest works by keyboard alone.
    await page.getByRole('checkbox', { name: 'Admin' }).uncheck();
    await page.getByRole('checkbox', { name: 'Import' }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    const made = await program<DeviceTokenResult>('POST', '/device/token', {
      body: { device_code: device.device_code },
    });
    if (made.state !== 'approved') throw new Error(made.state);
    expect(made.scopes).toEqual(['read', 'review', 'edit']);
    const { token } = made;
    expect((await program<TokenState>('GET', '/token', { token })).projects).toHaveLength(1);
    await page.goto(`${installation.url}/profile`);
    const row = page.getByRole('row').filter({ hasText: 'Ada’s laptop' });
    expect(await row.textContent()).toContain(`bkp_…${token.slice(-4)} · read, review, edit`);
    await row.getByRole('button', { name: /^Revoke/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('Ada’s laptop <b>');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('Revoked').waitFor();
    expect(await program<TokenState | undefined>('GET', '/token', { token })).toBe(undefined);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
