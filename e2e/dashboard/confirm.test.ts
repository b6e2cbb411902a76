import type { Browser, CDPSession, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DeviceTokenResult, DeviceAuthorization } from '../../packages/contract/src/dashboard/index.ts';
import { codeOf } from '../../packages/server/testing/factories/team.ts';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { OWNER } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { type Session, signedIn } from '../kit/session.ts';

const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

describe.skipIf(!hasBrowser)('confirmation in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session;
  let cdp: CDPSession;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    session = await signedIn(person.context, installation);
    cdp = await person.context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    await cdp.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
  }, 120_000);
  /** Makes the sign-in eleven minutes old. */
  const age = (): Promise<void> =>
    installation.sql(`UPDATE beckon.team_session SET confirmed_at = now() - interval '11 minutes'`);
  beforeEach(age);
  afterEach(() => expect(pageErrors).toEqual([]));
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const dialog = (): Locator => page.getByRole('dialog', { name: 'Confirm that it is you' });
  const passkeyRow = (name: string): Locator => page.getByRole('cell', { name, exact: true });
  async function begin(): Promise<DeviceAuthorization> {
    const response = await fetch(`${installation.url}/api/dashboard/device`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ label: 'notebook', scopes: ['read'] }),
    });
    return ((await response.json()) as { data: DeviceAuthorization }).data;
  }

  test('adds a passkey after the password was typed, by keyboard alone', async () => {
    await page.goto(`${installation.url}/profile`);
    await page.getByLabel('Name of the new passkey').fill('Laptop');
    await page.keyboard.press('Enter');
    await dialog().waitFor();
    const password = dialog().getByLabel('Password', { exact: true });
    await expect.poll(() => page.evaluate<string>('document.activeElement.type')).toBe('password');
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.type('wrong, and long enough');
    await page.keyboard.press('Enter');
    await dialog().getByText('The password is wrong.').waitFor();
    expect(await passkeyRow('Laptop').count()).toBe(0);
    await password.fill(OWNER.password);
    await page.keyboard.press('Enter');
    await passkeyRow('Laptop').waitFor();
    await dialog().waitFor({ state: 'detached' });
    // Within ten minutes of a confirmation no further one is required.
    expect((await session.request<object>('POST', '/passkeys/options', {})) !== null).toBe(true);
  });

  test('changes nothing and says so if it is canceled', async () => {
    await page.goto(`${installation.url}/profile`);
    await page.getByLabel('Name of the new passkey').fill('Phone');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await dialog().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText('You canceled the confirmation. No change was made.').waitFor();
    expect(await passkeyRow('Phone').count()).toBe(0);
  });

  test('approves a program after confirmation by passkey', async () => {
    const device = await begin();
    await page.goto(device.verification_url);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await dialog().getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    const response = await fetch(`${installation.url}/api/dashboard/device/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ device_code: device.device_code }),
    });
    expect(((await response.json()) as { data: DeviceTokenResult }).data.state).toBe('approved');
  });

  test('also requires a code if an authenticator app is set up', async () => {
    type Begun = { data: { uri: string; backup_codes: string[] } };
    const { data } = await session.request<Begun>('POST', '/two-factor/begin', { password: OWNER.password });
    await session.request('POST', '/two-factor/confirm', { code: codeOf(data.uri) });
    await age();
    const device = await begin();
    await page.goto(device.verification_url);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await dialog().getByLabel('Password', { exact: true }).fill(OWNER.password);
    const code = dialog().getByLabel('Code', { exact: true });
    await code.fill('abcde-fghij');
    await page.keyboard.press('Enter');
    await dialog().getByText('The code is wrong').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await code.fill(data.backup_codes[0] ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
  });

  test('removes passkeys and tokens with a new password, with that box selected by default', async () => {
    await page.goto(`${installation.url}/profile`);
    await page.getByRole('row').filter({ hasText: 'notebook' }).waitFor();
    const box = page.getByRole('checkbox', { name: 'Remove all passkeys and revoke all personal tokens' });
    expect(await box.isChecked()).toBe(true);
    await page.getByLabel('Current password').fill(OWNER.password);
    await page.getByLabel('New password', { exact: true }).fill('another horse battery');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('No passkeys yet.').waitFor();
    await page.getByRole('row').filter({ hasText: 'notebook' }).getByText('Revoked').waitFor();
    expect(await session.request('GET', '/session')).toMatchObject({
      data: { member: { email: OWNER.email } },
    });
  });
});
