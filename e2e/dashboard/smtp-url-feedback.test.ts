import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type FakeRelay, startFakeRelay } from '../../packages/server/testing/servers/relays/fake-relay.ts';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { zoneWhereItIs } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { type Session, signedIn } from '../kit/session.ts';

const DOMAIN = 'mail.acme.test';

describe.skipIf(!hasBrowser)('feedback of SMTP_URL in Chromium', () => {
  let browser: Browser;
  let fake: FakeRelay;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session & { projectId: number };
  beforeAll(async () => {
    [browser, fake] = await Promise.all([openBrowser(), startFakeRelay('postmark')]);
    installation = await newInstallation({
      SMTP_URL: 'smtp://user:secret@smtp.postmarkapp.com:587',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    session = await signedIn(person.context, installation, zoneWhereItIs(10));
    await session.request('POST', `/projects/${session.projectId}/domains`, { name: DOMAIN });
  }, 120_000);
  afterEach(() => expect(pageErrors).toEqual([]));
  afterAll(async () => {
    await browser.close();
    await Promise.all([installation.remove(), fake.close()]);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const open = (path: string) => page.goto(`${installation.url}/p/${session.projectId}/${path}`);

  test('is offered by Home and by the list of relays', async () => {
    await open('home');
    await page.getByText('Bounces of the relay SMTP_URL (Postmark) may be missed').waitFor();
    await open('settings/relays');
    await page.getByText(/This is the relay of SMTP_URL on the server, which belongs to Postmark/).waitFor();
    await page.getByRole('link', { name: 'Add feedback of Postmark' }).click();
    await page.getByRole('radio', { name: 'Postmark by SMTP_URL', checked: true }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  }, 60_000);

  test('is added without a setting, and changes nothing about sending', async () => {
    await button('Add feedback').click();
    await page.getByRole('heading', { level: 1, name: 'SMTP_URL' }).waitFor();
    await page.getByText(/Emails are still sent by SMTP/).waitFor();
    await page.getByText('Not proven yet').waitFor();
    await page.getByText(/Server API token\.$/).waitFor();
    expect(await button('Create webhook at Postmark').count()).toBe(0);
    expect(await page.getByRole('switch').count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await page
      .getByRole('region', { name: DOMAIN })
      .getByText(/Postmark sends with a return path of its own/)
      .waitFor();
  }, 60_000);

  test('creates the webhook with the key of the API', async () => {
    await page.getByLabel('Server API token (optional)').fill(fake.settings['server_token'] ?? '');
    await page.getByLabel('API URL (optional)').fill(fake.url);
    await button('Save changes').click();
    await button('Create webhook at Postmark').click();
    await page.getByText('The webhook was created at Postmark.').waitFor();
    expect(await page.content()).not.toContain(fake.settings['server_token']);
  }, 60_000);

  test('is listed, and is not offered again', async () => {
    await open('settings/relays');
    await page.getByRole('row', { name: /SMTP_URL.*Postmark by SMTP_URL, shared/ }).waitFor();
    expect(await page.getByRole('link', { name: 'Add feedback of Postmark' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Add relay' }).first().click();
    await page.getByRole('radio', { name: 'Postmark', exact: true, checked: true }).waitFor();
    expect(await page.getByRole('radio', { name: 'Postmark by SMTP_URL' }).count()).toBe(0);
    await open('home');
    await page.getByText('Bounces of the relay SMTP_URL may be missed').waitFor();
  }, 60_000);

  test('the domain asks for the SPF include of the relay that it uses', async () => {
    const at = `/projects/${session.projectId}`;
    const settings = { host: 'smtp.acme.test', spf_include: '_spf.acme.test' };
    type Added = { data: { id: string } };
    const { data } = await session.request<Added>('POST', `${at}/relays`, {
      kind: 'smtp',
      name: 'Main',
      settings,
    });
    await open(`settings/domains/${DOMAIN}`);
    await page.getByRole('heading', { level: 1, name: DOMAIN }).waitFor();
    await page.getByText('DMARC: policy for forged emails').waitFor();
    expect(await page.getByText('SPF of the return path').count()).toBe(0);
    await session.request('PUT', `${at}/relay-use`, { domain: DOMAIN, relay: data.id });
    await page.reload();
    const record = page.getByRole('article', { name: /^SPF of the return path/ });
    await record.getByText('v=spf1 include:_spf.acme.test ~all').waitFor();
    await record.getByRole('button', { name: new RegExp(`^Copy value of`) }).waitFor();
  }, 60_000);
});
