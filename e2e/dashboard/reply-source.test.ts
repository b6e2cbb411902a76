import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ImapServer, startImapServer } from '../../packages/server/testing/servers/imap-server.ts';
import { HOOK_CA_FILE } from '../../packages/server/testing/servers/hook-server.ts';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { zoneWhereItIs } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { keysOn } from '../kit/keys.ts';
import { type Session, signedIn } from '../kit/session.ts';

describe.skipIf(!hasBrowser)('reply source in Chromium', () => {
  let browser: Browser;
  let imap: ImapServer;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session & { projectId: number };
  beforeAll(async () => {
    [browser, imap] = await Promise.all([openBrowser(), startImapServer({ encryption: 'tls' })]);
    installation = await newInstallation({
      WEBHOOK_ALLOW_PRIVATE: 'true',
      NODE_EXTRA_CA_CERTS: HOOK_CA_FILE,
    });
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    session = await signedIn(person.context, installation, zoneWhereItIs(10));
  }, 120_000);
  afterEach(() => expect(pageErrors).toEqual([]));
  afterAll(async () => {
    await browser.close();
    await Promise.all([installation.remove(), imap.close()]);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const open = (path: string) => page.goto(`${installation.url}/p/${session.projectId}/settings/${path}`);

  test('adds a mailbox by keyboard alone, names the wrong field, and reads it', async () => {
    const keys = keysOn(page);
    imap.deliver('From: shop@else.test\r\nTo: replies@acme.test\r\nSubject: Offer\r\n\r\nBuy\r\n');
    await open('sender');
    await keys.activate(page.getByRole('link', { name: 'Set up reply source' }));
    await keys.isOn(page.getByRole('heading', { level: 1, name: 'Reply source' }));
    await page.getByText('No reply source yet').waitFor();
    await keys.fill(page.getByLabel('Host'), 'not a host');
    await keys.fill(page.getByLabel('Port (optional)'), String(imap.port));
    await keys.fill(page.getByLabel('User name'), imap.username);
    await keys.fill(page.getByLabel('Password', { exact: true }), imap.password);
    await keys.activate(button('Add reply source'));
    await page.getByText('Host must be a host name or an IP address').waitFor();
    await keys.fill(page.getByLabel('Host'), 'localhost');
    await keys.activate(button('Add reply source'));
    await page.getByText('Other emails').waitFor({ timeout: 45_000 });
    await page.getByText('Working', { exact: true }).waitFor();
    expect(await page.content()).not.toContain('correct horse');
  }, 90_000);

  test('tests the mailbox with one click, and shows why it cannot be read', async () => {
    await button('Test').click();
    await page.getByText('Test passed. Signed in, and opened the folder INBOX.').waitFor();
    imap.signInAnswer = 'NO [AUTHENTICATIONFAILED] Invalid credentials';
    await button('Test').click();
    await page.getByText(/Test failed.*Invalid credentials/).waitFor();
  }, 60_000);

  test('turns on plus addressing on the page of the sender', async () => {
    await open('sender');
    await page.getByText('On: replies are received from the reply source').waitFor();
    await page.getByRole('switch', { name: 'Plus addressing' }).click();
    await button('Save').click();
    await page.reload();
    await page.getByRole('switch', { name: 'Plus addressing', checked: true }).waitFor();
  }, 60_000);

  test('shows the webhook for Postmark, and deletes the reply source', async () => {
    await open('reply-source');
    await page.getByRole('radio', { name: 'Postmark inbound webhook' }).check();
    await button('Save changes').click();
    await page.getByText('Webhook at Postmark').waitFor();
    await page.getByText(/\/hooks\/replies\//).waitFor();
    await button('More').click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete reply source' });
    await dialog.getByRole('textbox').fill('Postmark inbound webhook');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No reply source yet').waitFor();
  }, 60_000);
});
