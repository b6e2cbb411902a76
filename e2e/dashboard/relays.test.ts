import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sink, startSink } from '../../packages/server/testing/servers/smtp-sink.ts';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { zoneWhereItIs } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { keysOn } from '../kit/keys.ts';
import { type Session, signedIn } from '../kit/session.ts';

const DOMAIN = 'mail.acme.test';

describe.skipIf(!hasBrowser)('relays in Chromium', () => {
  let browser: Browser;
  let sink: Sink;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session & { projectId: number };
  beforeAll(async () => {
    [browser, sink] = await Promise.all([openBrowser(), startSink()]);
    installation = await newInstallation({ WEBHOOK_ALLOW_PRIVATE: 'true' });
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    session = await signedIn(person.context, installation, zoneWhereItIs(10));
    await session.request('POST', `/projects/${session.projectId}/domains`, { name: DOMAIN });
  }, 120_000);
  afterEach(() => expect(pageErrors).toEqual([]));
  afterAll(async () => {
    await browser.close();
    await Promise.all([installation.remove(), sink.close()]);
  });

  const open = (path: string) => page.goto(`${installation.url}/p/${session.projectId}/settings/${path}`);
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('asks which relay, names the wrong field, and adds the relay', async () => {
    await open('relays');
    await page.getByRole('heading', { name: 'No relays yet' }).waitFor();
    await page.getByRole('link', { name: 'Add relay' }).first().click();
    await page.getByRole('radio', { name: 'SMTP', exact: true }).check();
    await page.getByLabel('Name', { exact: true }).fill('Main relay');
    await page.getByLabel('Host').fill('not a host');
    await button('Add relay').click();
    await page.getByText('Host must be a host name or an IP address').waitFor();
    await page.getByLabel('Host').fill('127.0.0.1');
    await page.getByLabel('Port (optional)').fill(String(sink.port));
    await page.getByLabel('Encryption').selectOption('none');
    await button('Add relay').click();
    await page.getByRole('heading', { level: 1, name: 'Main relay' }).waitFor();
    await page.getByText('Not tested yet').waitFor();
  }, 60_000);

  test('tests the relay with one click, without sending an email', async () => {
    await button('Test').click();
    await page.getByText('Test passed', { exact: true }).first().waitFor();
    expect(sink.connections()).toBe(1);
    expect(sink.emails).toEqual([]);
  }, 60_000);

  test('uses the relay for the project and for a domain', async () => {
    await page.getByRole('switch', { name: 'This project' }).click();
    await page.getByRole('switch', { name: 'This project', checked: true }).waitFor();
    await page.getByRole('switch', { name: DOMAIN }).click();
    await page.getByText(`this project, ${DOMAIN}`).waitFor();
    await open('relays');
    await page.getByRole('row', { name: /Main relay.*Test passed.*this project/ }).waitFor();
  }, 60_000);

  test('replaces a password, and never shows it', async () => {
    await page
      .getByRole('link', { name: 'Main relay' })
      .or(page.getByRole('row', { name: /Main relay/ }))
      .first()
      .click();
    await page.getByLabel('Encryption').selectOption('starttls');
    await page.getByLabel('User name (optional)').fill('acme');
    await page.getByLabel('Password (optional)').fill('correct-horse-battery');
    await button('Save changes').click();
    await page.getByText('Not tested yet').waitFor();
    await page.reload();
    await page.getByLabel('User name (optional)').waitFor();
    expect(await page.getByLabel('User name (optional)').inputValue()).toBe('acme');
    expect(await page.getByLabel('Password (optional)').inputValue()).toBe('');
    expect(await page.content()).not.toContain('correct-horse-battery');
  }, 60_000);

  test('shows why a test failed', async () => {
    await button('Test').click();
    await page.getByText('The last test failed').waitFor();
    await page.getByText('Test failed', { exact: true }).first().waitFor();
  }, 60_000);

  test('refuses to delete a relay in use, and deletes it afterwards', async () => {
    const remove = async (): Promise<void> => {
      await button('More').click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete Main relay' });
      await dialog.getByRole('textbox').fill('Main relay');
      await dialog.getByRole('button', { name: 'Delete' }).click();
    };
    await remove();
    await page.getByText(/Main relay is used by/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('switch', { name: 'This project' }).click();
    await page.getByRole('switch', { name: 'This project', checked: false }).waitFor();
    await page.getByRole('switch', { name: DOMAIN }).click();
    await page.getByText('not in use').waitFor();
    await remove();
    await page.getByRole('heading', { name: 'No relays yet' }).waitFor();
  }, 60_000);

  test('adds, tests and uses a relay by keyboard alone', async () => {
    const keys = keysOn(page);
    await open('relays');
    await keys.activate(page.getByRole('link', { name: 'Add relay' }).first());
    await keys.isOn(page.getByRole('heading', { level: 1, name: 'Add relay' }));
    await keys.tabTo(page.getByRole('radio', { name: 'SMTP', exact: true }));
    await keys.press('Space');
    await keys.fill(page.getByLabel('Host'), '127.0.0.1');
    await keys.fill(page.getByLabel('Port (optional)'), String(sink.port));
    await keys.tabTo(page.getByLabel('Encryption'));
    await keys.press('n');
    expect(await page.getByLabel('Encryption').inputValue()).toBe('none');
    await keys.activate(button('Add relay'));
    await keys.isOn(page.getByRole('heading', { level: 1, name: 'SMTP' }));
    await keys.activate(button('Test'));
    await page.getByText('Test passed', { exact: true }).first().waitFor();
    await keys.tabTo(page.getByRole('switch', { name: 'This project' }));
    await keys.press('Space');
    await page.getByRole('switch', { name: 'This project', checked: true }).waitFor();
  }, 60_000);
});
