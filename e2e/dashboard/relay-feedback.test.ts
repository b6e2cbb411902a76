import type { Browser, Page } from 'playwright-core';
import type { RelayFeedback } from '../../packages/contract/src/dashboard/relay-feedback.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type FakeRelay, startFakeRelay } from '../../packages/server/testing/servers/relays/fake-relay.ts';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { zoneWhereItIs } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { type Session, signedIn } from '../kit/session.ts';

const DOMAIN = 'mail.acme.test';

describe.skipIf(!hasBrowser)('feedback of a relay in Chromium', () => {
  let browser: Browser;
  let fake: FakeRelay;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session & { projectId: number };
  beforeAll(async () => {
    [browser, fake] = await Promise.all([openBrowser(), startFakeRelay('postmark')]);
    installation = await newInstallation({ WEBHOOK_ALLOW_PRIVATE: 'true' });
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    session = await signedIn(person.context, installation, zoneWhereItIs(10));
    const at = `/projects/${session.projectId}`;
    await session.request('POST', `${at}/domains`, { name: DOMAIN });
    // No name server of this test has the records of the domain.
    await installation.sql(
      `UPDATE beckon.sending_domain SET state = 'verified', verified_at = now(), next_check_at = NULL`,
    );
    await session.request('PATCH', `${at}/settings`, {
      settings: {
        from_name: 'Acme',
        from_address: `hello@${DOMAIN}`,
        postal_address: '1 Main Street, Springfield',
      },
    });
  }, 120_000);
  afterEach(() => expect(pageErrors).toEqual([]));
  afterAll(async () => {
    await browser.close();
    await Promise.all([installation.remove(), fake.close()]);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const open = (path: string) => page.goto(`${installation.url}/p/${session.projectId}/${path}`);

  test('goes from the question which relay to an unproven relay', async () => {
    await open('settings/relays/new');
    await page.getByRole('radio', { name: 'Postmark', exact: true }).check();
    await page.getByLabel('Name', { exact: true }).fill('Main relay');
    await page.getByLabel('Server API token').fill(fake.settings['server_token'] ?? '');
    await page.getByLabel('API URL (optional)').fill(fake.url);
    await button('Add relay').click();
    await page.getByRole('heading', { level: 1, name: 'Main relay' }).waitFor();
    await button('Test').click();
    await page.getByText('Test passed', { exact: true }).first().waitFor();
    await page.getByRole('switch', { name: 'This project' }).click();
    await page.getByRole('switch', { name: 'This project', checked: true }).waitFor();
    await page.getByText('Not proven yet').waitFor();
    expect(fake.submissions).toBe(0);
  }, 60_000);

  test('warns on Home that bounces may be missed', async () => {
    await open('home');
    await page.getByText('Bounces of the relay Main relay may be missed').waitFor();
    await page.getByRole('link', { name: 'Open relay' }).click();
    await page.getByRole('heading', { level: 1, name: 'Main relay' }).waitFor();
  }, 60_000);

  test('creates the webhook at the provider with one click', async () => {
    await button('Create webhook at Postmark').click();
    await page.getByText('The webhook was created at Postmark.').waitFor();
  }, 60_000);

  test('turns green only when the bounce has come back', async () => {
    await button('Send email that bounces').click();
    await page.getByText(/^Sent to hardbounce@bounce-testing.postmarkapp.com/).waitFor();
    await page.getByText('Not proven yet').waitFor();
    const [email] = fake.emails;
    if (!email) throw new Error('nothing was sent');
    const event = {
      id: 'bounce-1',
      kind: 'bounced',
      text: '550 5.1.1 No such user',
      at: Date.now(),
    } as const;
    const { body } = fake.provider.hook({ ...event, email }, Date.now());
    const response = await fetch(await hookUrl(), {
      method: 'POST',
      ...(await authorized()),
      body: new Uint8Array(body),
    });
    expect(response.status).toBe(200);
    await page.getByText('Proven', { exact: true }).waitFor();
    await open('home');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByText('Bounces of the relay Main relay may be missed').count()).toBe(0);
  }, 60_000);

  async function webhook(): Promise<URL> {
    const relays = await session.request<{ data: { id: string }[] }>(
      'GET',
      `/projects/${session.projectId}/relays`,
    );
    const path = `/projects/${session.projectId}/relays/${relays.data[0]?.id}/feedback`;
    const { data } = await session.request<{ data: RelayFeedback }>('GET', path);
    return new URL(data.webhook?.url ?? '');
  }

  /** The provider sends the password of the URL as basic authentication. */
  async function authorized(): Promise<{ headers: Record<string, string> }> {
    const { username, password } = await webhook();
    return {
      headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
    };
  }

  async function hookUrl(): Promise<string> {
    return `${installation.url}${(await webhook()).pathname}`;
  }
});
