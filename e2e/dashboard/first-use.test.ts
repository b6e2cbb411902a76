import type { Browser, BrowserContext, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AudienceListed, DraftListed, MemberListed, RuleListed } from '@beckon/contract/dashboard';
import { type DnsServer, startDnsServer } from '../../packages/server/testing/servers/dns-server.ts';
import {
  HOOK_CA_FILE,
  type HookServer,
  hookServer,
} from '../../packages/server/testing/servers/hook-server.ts';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { dnsRecordsOn, publish } from '../kit/dns-records.ts';
import { approveFirstDraft, createAccount, seeFirstEmail, zoneWhereItIs } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { newRecorder } from '../kit/recorder.ts';
import { copySecret } from '../kit/secret-once.ts';
import { sessionOf } from '../kit/session.ts';

const DOMAIN = 'mail.acme.test';
const CUSTOMERS = {
  name: 'customers.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(
    'id,email,name,plan\nu1,linus@example.com,Linus,pro\nu2,edsger@example.com,Edsger,trial\nu3,barbara@example.com,Barbara,pro\n',
  ),
};

/** As many as in the release of November 23, 2026. docs/reference/dashboard.md has the clicks of each stage of both. */
const CLICKS_MAX = 41;

describe.skipIf(!hasBrowser)('first use in Chromium', () => {
  let browser: Browser;
  let dns: DnsServer;
  let hooks: HookServer;
  let installation: Installation;
  let context: BrowserContext;
  let page: Page;
  let pageErrors: string[];
  beforeAll(async () => {
    [browser, dns, hooks] = await Promise.all([openBrowser(), startDnsServer(), hookServer()]);
    installation = await newInstallation({
      DNS_SERVERS: dns.servers.join(','),
      MAIL_DOMAIN: 'in.acme.test',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      NODE_EXTRA_CA_CERTS: HOOK_CA_FILE,
    });
    ({ context, page, pageErrors } = await newPerson(browser, { timeZone: zoneWhereItIs(10) }));
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await Promise.all([installation.remove(), dns.stop(), hooks.close()]);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = (name: string) => page.getByRole('dialog', { name });
  /** Follows a link of a sidebar. */
  const goTo = (name: string): Promise<void> =>
    page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  const heading = (name: string): Promise<void> =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  test('leads from the set-up link to a team that sends, without a command or a page reload', async () => {
    const { stage, table, stages, watch } = newRecorder();
    await watch(context);
    const session = sessionOf(context, installation);

    const actions = await stage('Create the account', () => createAccount(page, installation));

    await stage('Send the first event', async () => {
      await actions.click('button', 'Send a test event');
      await page.getByText('Received “user_signed_up”').waitFor();
      const draft = page.frameLocator('iframe[title^="Draft to "]');
      await draft.getByText('Your Acme account is ready').waitFor();
    });
    await stage('Approve the draft', () => approveFirstDraft(page, actions));
    await stage('See the email', () => seeFirstEmail(page));

    await stage('Create a rule', async () => {
      await page.getByLabel('I stored the key where my server reads it').check();
      await page.getByRole('link', { name: 'Open dashboard' }).first().click();
      await heading('Home');
      await goTo('Rules');
      await page.getByRole('link', { name: 'New rule' }).click();
      await page.getByLabel('Name', { exact: true }).fill('First week');
      await page.getByRole('combobox', { name: 'Event' }).fill('user_signed_up');
      await page.getByLabel('Subject').fill('Your first week with Acme');
      await page.getByRole('textbox', { name: 'Body' }).click();
      await page.keyboard.press('ControlOrMeta+End');
      await page.keyboard.type('Three things to try this week.');
      await page
        .getByText(/user_signed_up happens/)
        .first()
        .waitFor();
      await button('Create rule').click();
      await heading('First week');
      await page.getByText('Disabled', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: /^Email Your first week with Acme/ }).waitFor();
    });

    await stage('Enable it with proof', async () => {
      await button('Enable…').click();
      const sheet = dialog('Enable First week');
      await sheet.getByText('Your first week with Acme').waitFor();
      await sheet.frameLocator('iframe').getByText('Three things to try this week.').waitFor();
      expect(await sheet.getByRole('radio', { name: 'Autopilot' }).isChecked()).toBe(true);
      await sheet.getByRole('button', { name: 'Enable', exact: true }).click();
      await button('Disable…').waitFor();
    });
    const projectId = Number(/\/p\/(\d+)\//.exec(page.url())?.[1]);
    const get = async <T>(path: string): Promise<T> =>
      (await session.request<{ data: T }>('GET', `/projects/${projectId}/${path}`)).data;
    const rules = await get<RuleListed[]>('rules');
    expect(rules.find(({ name }) => name === 'First week')).toMatchObject({ on: true, mode: 'autopilot' });

    await stage('Create an audience', async () => {
      await goTo('Audiences');
      await page.getByRole('link', { name: 'New audience' }).first().click();
      await page.getByLabel('Name', { exact: true }).fill('Pro customers');
      await page.getByRole('combobox', { name: 'Trait: value', exact: true }).fill('pro');
      await page.getByRole('region', { name: 'Preview' }).getByText('0 users now').waitFor();
      await button('Create audience').click();
      await heading('Pro customers');
      await page.getByText('Ready', { exact: true }).waitFor();
    });

    await stage('Import users', async () => {
      await goTo('Users');
      await page.getByRole('link', { name: 'Imports' }).click();
      await button('New import').first().click();
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        dialog('New import').getByLabel('File', { exact: true }).click(),
      ]);
      await chooser.setFiles(CUSTOMERS);
      await button('Upload').click();
      await button('Check all rows').click();
      await page.getByText('Triggers 0 emails.').first().waitFor();
      await button('Start import').click();
      await page.getByText('3 users: 3 new, 0 changed, 0 unchanged').waitFor({ timeout: 60_000 });
      await page.getByText('It triggered 0 emails.').waitFor();
    });
    await expect
      .poll(async () => (await get<AudienceListed[]>('audiences')).map(({ members }) => members))
      .toEqual([2]);

    await stage('Add a sending domain', async () => {
      await goTo('Settings');
      await goTo('Domains');
      await button('Add domain').first().click();
      await page.getByLabel('Domain', { exact: true }).fill(DOMAIN);
      await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
      await heading(DOMAIN);
      await page.getByText('Not verified yet').waitFor();
      const records = await dnsRecordsOn(page);
      const names = records.map(({ name }) => name);
      expect(names).toContainEqual(expect.stringContaining(`._domainkey.${DOMAIN}`));
      expect(names).toEqual(expect.arrayContaining([`bounce.${DOMAIN}`, `_dmarc.${DOMAIN}`]));
      publish(dns, records);
      await button('Check now').click();
      await page.getByText('Emails are sent from this domain.').waitFor();
    });

    await stage('Add a webhook endpoint', async () => {
      await page.getByRole('link', { name: 'Back to Acme' }).click();
      await goTo('Webhooks');
      await button('Add endpoint').first().click();
      await page.getByLabel('URL').fill(hooks.url('/outcomes'));
      await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
      const secret = await copySecret(page, 'Signing secret');
      await page.getByRole('link', { name: hooks.url('/outcomes') }).click();
      await button('Send test event').click();
      await page.getByText('Test event delivered: 204').waitFor();
      expect(hooks.received).toHaveLength(1);
      const [{ body, headers }] = hooks.received as [(typeof hooks.received)[number]];
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
        type: 'test',
      });
    });

    await stage('Invite a teammate', async () => {
      await goTo('Settings');
      await goTo('Team');
      await button('Invite').click();
      const inviting = dialog('Invite team member');
      await inviting.getByLabel('Email').fill('grace@example.com');
      await inviting.getByRole('button', { name: 'Invite' }).click();
      const link = await inviting.getByLabel('link', { exact: true }).innerText();
      await inviting.getByRole('button', { name: 'Done' }).click();
      const grace = await newPerson(browser);
      await watch(grace.context);
      await grace.page.goto(link);
      await grace.page.getByLabel('Your name').fill('Grace');
      await grace.page.getByLabel('Password').first().fill('battery staple correct horse');
      await grace.page.getByRole('button', { name: 'Join' }).click();
      await grace.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      await grace.page.getByRole('button', { name: 'Account of Grace' }).waitFor();
      expect(new URL(grace.page.url()).pathname).toBe(`/p/${projectId}/home`);
      expect(grace.pageErrors).toEqual([]);
    });
    const members = await get<MemberListed[]>('members');
    expect(members).toContainEqual(expect.objectContaining({ email: 'grace@example.com', role: 'reviewer' }));

    // Neither the import nor the rule, which starts with later events, wrote to anyone.
    const drafts = await get<DraftListed[]>('drafts?view=all');
    expect(drafts).toHaveLength(1);

    process.stdout.write(table());
    const clicks = stages.reduce((sum, stage) => sum + stage.clicks, 0);
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
    expect(pageErrors).toEqual([]);
  }, 300_000);
});
