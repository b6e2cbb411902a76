import type { Browser, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type DnsServer, startDnsServer } from '../../packages/server/testing/servers/dns-server.ts';
import {
  HOOK_CA_FILE,
  type HookServer,
  hookServer,
} from '../../packages/server/testing/servers/hook-server.ts';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { dnsRecordsOn, publish } from '../kit/dns-records.ts';
import { OWNER, zoneWhereItIs } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { serverWith } from '../kit/public-api.ts';
import { copySecret } from '../kit/secret-once.ts';
import { type Session, signedIn } from '../kit/session.ts';

const DOMAIN = 'mail.acme.test';

describe.skipIf(!hasBrowser)('keys, domains and webhooks in Chromium', () => {
  let browser: Browser;
  let dns: DnsServer;
  let hooks: HookServer;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session & { projectId: number };
  beforeAll(async () => {
    [browser, dns, hooks] = await Promise.all([openBrowser(), startDnsServer(), hookServer()]);
    installation = await newInstallation({
      DNS_SERVERS: dns.servers.join(','),
      MAIL_DOMAIN: 'in.acme.test',
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
    await Promise.all([installation.remove(), dns.stop(), hooks.close()]);
  });

  const open = (screen: string) => page.goto(`${installation.url}/p/${session.projectId}/${screen}`);
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const row = (name: string | RegExp) => page.getByRole('row', { name });

  async function createKey(label: string): Promise<{ secret: string; example: string }> {
    await button('Create key').first().click();
    await page.getByLabel('Label').fill(label);
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const example = await page
      .getByRole('dialog')
      .getByText(/^curl /)
      .innerText();
    return { example, secret: await copySecret(page, 'Your new API key') };
  }

  test('shows a key once, shows its use, rotates it, and rejects it after revocation', async () => {
    await open('settings/api-keys');
    await page.getByText('No API keys yet').waitFor();
    const { secret, example } = await createKey('Checkout');
    await row(/Checkout.*never/).waitFor();

    expect(await installation.shell(example)).toBe('{"data":{"accepted":true}}'.repeat(2));
    await expect
      .poll(
        async () => {
          await page.reload();
          return row(/Checkout/).innerText();
        },
        { timeout: 20_000, interval: 500 },
      )
      .toMatch(/(now|ago)\s+2\s/);

    const next = await createKey('Checkout, second');
    expect(await serverWith(next.secret, installation)('users', { external_user_id: 'ada' })).toBe(202);
    await button('Revoke Checkout').click();
    const revoking = page.getByRole('dialog', { name: 'Revoke Checkout' });
    const revoke = revoking.getByRole('button', { name: 'Revoke' });
    await revoking.getByLabel('Type Checkout to confirm').fill('Check');
    expect(await revoke.isDisabled()).toBe(true);
    await revoking.getByLabel('Type Checkout to confirm').fill('Checkout');
    await revoke.click();
    await page.getByText('Checkout revoked').waitFor();
    const event = { external_user_id: 'ada', name: 'signed_up' };
    expect(await serverWith(secret, installation)('events', event)).toBe(401);
    expect(await serverWith(next.secret, installation)('events', event)).toBe(202);
    await page.getByLabel('Show revoked keys').check();
    await row(/Checkout.*Revoked/).waitFor();
  });

  test('the pasted command of a key creates a draft, and Home leads to it', async () => {
    await open('home');
    await page.getByText('Approve the draft in Review').waitFor();
    await page.getByRole('link', { name: 'Open Review' }).click();
    const drafts = page.getByRole('grid', { name: 'Drafts to review' });
    await drafts.getByRole('row').filter({ hasText: 'Welcome to Acme' }).waitFor();
    await page.getByRole('region', { name: 'Draft', exact: true }).getByText(OWNER.email).waitFor();
    await page.keyboard.press('a');
    await page.getByText('Approved “Welcome to Acme').waitFor();
    await open('home');
    await page.getByText('Last event').waitFor();
    expect(await page.getByText('Approve the draft in Review').count()).toBe(0);
  });

  test("shows a domain's DNS records and what was found instead, verifies it once they match, and sends from an address there", async () => {
    await open('settings/domains');
    await button('Add domain').first().click();
    await page.getByLabel('Domain', { exact: true }).fill(DOMAIN);
    await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
    await page.getByRole('heading', { level: 1, name: DOMAIN }).waitFor();
    await page.getByText('Not verified yet').waitFor();

    const records = await dnsRecordsOn(page);
    for (const { article, name, value } of records) {
      await article.getByRole('button', { name: `Copy value of ${name}`, exact: true }).click();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(value);
    }
    publish(dns, records);
    const dmarc = page.getByRole('article', { name: /^DMARC/ });
    const good = await dmarc.getByLabel(/^value of/).innerText();
    dns.set('TXT', `_dmarc.${DOMAIN}`, ['v=DMARC1; p=perhaps']);
    await button('Check now').click();
    await dmarc.getByText('Wrong', { exact: true }).waitFor();
    await dmarc.getByText('v=DMARC1; p=perhaps').waitFor();
    await page.getByText(`${records.length - 1} of ${records.length} correct`).waitFor();

    dns.set('TXT', `_dmarc.${DOMAIN}`, [good]);
    await button('Check now').click();
    await page.getByText('Verified', { exact: true }).first().waitFor();
    await page.getByText('Emails are sent from this domain.').waitFor();

    await open('settings/sender');
    await page.getByLabel('Name', { exact: true }).fill('Ada of Acme');
    await page.getByLabel('Address', { exact: true }).fill(`ada@${DOMAIN}`);
    await page.getByText(`${DOMAIN} is verified`).waitFor();
    await page.getByLabel('Postal address').fill('Acme, 1 High Street, 12345 Town');
    // The form shows what was saved before the settings are loaded again.
    const reload = Promise.withResolvers<void>();
    await page.route(/\/settings$/, async (request) => {
      if (request.request().method() === 'GET') await reload.promise;
      await request.continue();
    });
    await button('Save').click();
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ada of Acme');
    reload.resolve();
    await page.getByText('Emails come from Ada of Acme').waitFor();
    await page.unroute(/\/settings$/);
  });

  test('sends the outcomes of an email to an endpoint, and replays what the endpoint missed on request', async () => {
    await open('webhooks');
    await button('Add endpoint').first().click();
    await page.getByLabel('URL').fill(hooks.url('/outcomes'));
    await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
    const secret = await copySecret(page, 'Signing secret');
    await page.getByRole('link', { name: hooks.url('/outcomes') }).click();
    await button('Send test event').click();
    await page.getByText('Test event delivered: 204').waitFor();

    hooks.setReply(() => ({ status: 500, body: 'not today' }));
    await unsubscribe(await emailTo('grace'));
    const deliveryRow = row(/email\.unsubscribed/);
    const panel = page.getByRole('dialog', { name: 'Delivery' });
    await deliveryRow.getByText('500').waitFor();
    await deliveryRow.getByRole('button').click();
    await panel.getByText('not today').first().waitFor();
    await page.keyboard.press('Escape');
    await choose('Disable');
    await deliveryRow.getByText('Missed').waitFor();

    hooks.setReply(() => ({ status: 204 }));
    await choose('Enable');
    await page.getByText('Healthy').or(page.getByText('Failing')).first().waitFor();
    await deliveryRow.getByRole('button').click();
    await panel.getByRole('button', { name: 'Replay' }).click();
    await panel.getByText('Delivered').waitFor();
    await panel.getByText('manual').waitFor();
    const last = hooks.received.at(-1);
    const headers = last?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(last?.body ?? '', headers)).toMatchObject({
      type: 'email.unsubscribed',
    });
  });

  async function choose(act: string): Promise<void> {
    await button('More').click();
    await page.getByRole('menuitem', { name: act }).click();
  }

  /** Approves the welcome email of a new user in Review and returns its text. */
  async function emailTo(user: string): Promise<string> {
    const key = await session.request<{ data: { secret: string } }>(
      'POST',
      `/projects/${session.projectId}/keys`,
      { label: `For ${user}` },
    );
    const post = serverWith(key.data.secret, installation);
    const email = `${user}@example.com`;
    expect(await post('users', { external_user_id: user, email, traits: { name: user } })).toBe(202);
    expect(await post('events', { external_user_id: user, name: 'user_signed_up' })).toBe(202);
    await page
      .getByRole('link', { name: /^Review/ })
      .first()
      .click();
    await button('Approve').click();
    await page.getByRole('link', { name: 'Test inbox' }).first().click();
    await page.getByRole('link', { name: /Welcome to Acme/ }).click();
    await page.getByRole('tab', { name: 'Text' }).click();
    return page.getByLabel('Plain text of the email').innerText();
  }

  async function unsubscribe(emailText: string): Promise<void> {
    const { page: theirs, context } = await newPerson(browser);
    const [link = ''] = /https?:\/\/\S+\/u\/[^\s\]]+/.exec(emailText) ?? [];
    await theirs.goto(link);
    await theirs
      .getByRole('button', { name: /unsubscribe/i })
      .first()
      .click();
    await context.close();
    await open('webhooks');
    await page.getByRole('link', { name: hooks.url('/outcomes') }).click();
  }
});
