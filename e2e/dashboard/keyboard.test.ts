import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import type { RuleDetails, SuppressionListed, UserDetails } from '@beckon/contract/dashboard';
import { hasBrowser } from '../kit/browser.ts';
import { DEMO_TIMEOUT_MS, type DemoInBrowser, demoInBrowser } from '../kit/demo.ts';
import { type Keys, keysOn } from '../kit/keys.ts';
import { screenOf, screensOf } from '../kit/screens.ts';
import { navigateTo, shownText } from '../kit/walk.ts';

const CSV = {
  name: 'customers.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from('id,email,plan\nkb1,kb1@example.com,pro\nkb2,kb2@example.com,trial\n'),
};

describe.skipIf(!hasBrowser)('screens by keyboard alone', () => {
  let owner: DemoInBrowser;
  let page: Page;
  let keys: Keys;
  let paths: Map<string, string>;
  beforeAll(async () => {
    owner = await demoInBrowser({ width: 1440, height: 900 });
    ({ page } = owner);
    keys = keysOn(page);
    await owner.installation.sql(`INSERT INTO beckon.dead_letter
        (project_id, seq, priority, kind, record, reason, accepted_at, dead_lettered_at)
      VALUES (${owner.demo}, 1, 'live', 'users', '{"external_user_id":"kb9"}', 'By hand', now(), now())`);
    const all = await screensOf(owner.session, owner.demo);
    paths = new Map(all.map((path) => [screenOf(path), path]));
    await page.goto(`${owner.installation.url}/projects`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }, DEMO_TIMEOUT_MS);
  afterAll(() => owner.close());

  /** The heading of another item of the same screen is no new element, so the visit begins elsewhere. */
  async function visit(path: string): Promise<void> {
    await navigateTo(page, '/projects');
    await navigateTo(page, path);
  }
  const request = async <T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> =>
    (await owner.session.request<{ data: T }>(method, `/projects/${owner.demo}/${path}`, body)).data;
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
  const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name });
  const text = (words: string | RegExp): Promise<void> => shownText(page, words);
  const title = (name: string | RegExp): Locator => page.getByRole('heading', { level: 1, name });
  /** After a change of the page, the focus is on its title. */
  const arrived = (name: string | RegExp): Promise<void> => keys.isOn(title(name));
  /** The focus is on a control, so that the next key has an effect. */
  const isSomewhere = (): Promise<void> => keys.isOn(page.locator('body *'));
  const current = (): Locator => page.locator('[data-row][aria-current="true"]');
  /** Makes the first row of a list the current one. */
  async function toFirstRow(): Promise<void> {
    await page.locator('[data-row]').first().waitFor();
    await keys.press('j');
    await current().waitFor();
  }
  const opener = (): Locator => page.locator('[data-row] :is(a, button)').first();
  const field = (label: string | RegExp, within: Page | Locator = page): Locator =>
    within.getByLabel(label, { exact: true });
  const radio = (group: string, name: string): Locator =>
    page.getByRole('radiogroup', { name: group }).getByRole('radio', { name, exact: true });
  /** Opens a dialog with its button, and types into its first field, which has the focus. */
  async function typeInDialog(
    opener: Locator,
    [name, label, typed]: [string, string, string],
  ): Promise<Locator> {
    await keys.activate(opener);
    await keys.isOn(dialog(name).getByLabel(label));
    await page.keyboard.type(typed);
    return dialog(name);
  }
  /** Stores a secret that is shown once. */
  async function storeSecret(name: string): Promise<void> {
    await keys.tabTo(field('I stored the secret where my server reads it', dialog(name)));
    await keys.press('Space');
    await keys.activate(dialog(name).getByRole('button', { name: 'Done' }));
    await dialog(name).waitFor({ state: 'hidden' });
  }
  /** Opens the panel of a row, closes it with Escape, and is back on the row. */
  async function openPanel(see: (panel: Locator) => Promise<void>): Promise<void> {
    await keys.activate(opener());
    const panel = page.getByRole('dialog');
    await panel.waitFor();
    await see(panel);
    await keys.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await keys.isOn(opener());
  }
  /** Selects a tab with the arrow keys. */
  async function toTab(from: string, to: string): Promise<void> {
    await keys.tabTo(page.getByRole('tab', { name: from, exact: true }));
    await keys.arrowTo(page.getByRole('tab', { name: to }));
    await page.getByRole('tab', { name: to, selected: true }).waitFor();
  }

  const TASKS: Record<string, () => Promise<void>> = {
    async home() {
      await keys.tabTo(radio('Range', '30 days'));
      await keys.press('ArrowLeft');
      await page.getByRole('heading', { name: /last 7 days/ }).waitFor();
      await keys.isOn(radio('Range', '7 days'));
      await keys.activate(page.getByRole('main').getByRole('link', { name: /^Sent: / }));
      await arrived('Sent emails');
    },
    async review() {
      const draft = page.getByRole('row').and(page.locator('[id^="draft-"][aria-current="true"]'));
      await draft.waitFor();
      await keys.press('j', 'k');
      const before = await draft.getAttribute('id');
      const approved = page.waitForResponse((response) => response.url().endsWith('/approve'));
      await keys.press('a');
      expect((await approved).status()).toBe(200);
      await expect.poll(() => draft.getAttribute('id')).not.toBe(before);
      await keys.press('u');
      await expect.poll(() => draft.getAttribute('id')).toBe(before);
    },
    async 'review?view=decided'() {
      await toFirstRow();
      await keys.press('Enter');
      await page.waitForURL('**/drafts/*');
      await page.getByRole('tab', { name: 'Preview', selected: true }).waitFor();
      await isSomewhere();
    },
    async 'drafts/:item'() {
      await toTab('Preview', 'Why');
      await page.getByRole('tabpanel').getByRole('heading').first().waitFor();
      await isSomewhere();
    },
    async rules() {
      await keys.activate(page.getByRole('link', { name: 'New rule' }));
      await arrived('New rule');
      await keys.fill(field('Name'), 'By keyboard');
      await keys.fill(page.getByRole('combobox', { name: 'Event' }), 'report_exported');
      await keys.press('Escape');
      await keys.fill(field('Subject'), 'Your report');
      await keys.fill(page.getByRole('textbox', { name: 'Body' }), 'It is ready.');
      await keys.activate(button('Create rule'));
      await arrived('By keyboard');
    },
    async 'rules/:item'() {
      const document = {
        name: 'Enabled by keyboard',
        when: { event: 'report_exported' },
        steps: [{ draft: { subject: 'Your report', body: 'It is ready.' } }],
      };
      await request<RuleDetails>('POST', 'rules', { document });
      await visit(`/p/${owner.demo}/rules/Enabled%20by%20keyboard`);
      await keys.activate(button('Enable…'));
      const sheet = dialog('Enable Enabled by keyboard');
      await keys.tabTo(sheet.getByRole('radio', { name: 'Autopilot' }));
      await keys.press('ArrowDown');
      await keys.isOn(sheet.getByRole('radio', { name: 'Drafts only' }));
      await keys.activate(sheet.getByRole('button', { name: 'Enable', exact: true }));
      await sheet.waitFor({ state: 'hidden' });
      await button('Disable…').waitFor();
      await text('Drafts only');
      await isSomewhere();
    },
    async templates() {
      await typeInDialog(button('New template'), ['New template', 'Name', 'by_keyboard']);
      await keys.press('Enter');
      await arrived('by_keyboard');
      await keys.fill(field('Subject'), 'Written by keyboard');
      await keys.press('ControlOrMeta+s');
      await text('Saved, not published');
      await isSomewhere();
    },
    async 'templates/:item'() {
      await keys.fill(field('Subject'), 'A new subject');
      await keys.activate(button('Publish…'));
      const publishing = page.getByRole('dialog');
      // A template with open drafts asks whether they change too.
      const follow = publishing.getByRole('radio').first();
      await publishing.getByRole('button', { name: 'Publish' }).waitFor();
      if ((await follow.count()) > 0) {
        await keys.tabTo(follow);
        await keys.press('Space');
      }
      await keys.activate(publishing.getByRole('button', { name: 'Publish' }));
      await publishing.waitFor({ state: 'hidden' });
      await text(/Published|published/);
      await isSomewhere();
    },
    async audiences() {
      await keys.activate(page.getByRole('link', { name: 'New audience' }).first());
      await arrived('New audience');
      await keys.fill(field('Name'), 'Made by keyboard');
      await keys.fill(page.getByRole('combobox', { name: 'Trait: value', exact: true }), 'pro');
      await keys.press('Escape');
      await keys.activate(button('Create audience'));
      await arrived('Made by keyboard');
    },
    async 'audiences/:item'() {
      await toTab('Overview', 'Definition');
      await keys.fill(field('Name'), 'Renamed by keyboard');
      await keys.press('ControlOrMeta+s');
      await title('Renamed by keyboard').waitFor();
      await keys.isOn(field('Name'));
    },
    async users() {
      await keys.press('/');
      await page.keyboard.type('omar abe');
      await page
        .getByLabel('Users, count')
        .filter({ hasText: /^\d in total/ })
        .waitFor();
      await keys.press('Escape', 'Escape');
      await toFirstRow();
      await keys.press('Enter');
      await arrived('Omar Abe');
    },
    async 'users/:item'() {
      await toTab('Timeline', 'Explain');
      await keys.tabTo(page.getByRole('tabpanel').locator('summary').first());
      await keys.press('Enter');
      await page.locator('details[open]').first().waitFor();
      await keys.press('Escape');
      await arrived('Users');
    },
    async suppressions() {
      const typed: [string, string, string] = ['Add suppression', 'Email address', 'kb@example.com'];
      const adding = await typeInDialog(button('Add suppression'), typed);
      await keys.press('Enter');
      await adding.waitFor({ state: 'hidden' });
      await keys.isOn(button('Add suppression'));
      await keys.activate(button('kb@example.com'));
      await keys.activate(page.getByRole('dialog').getByRole('button', { name: 'Remove suppression' }));
      const removing = dialog('Remove suppression');
      await keys.isOn(field('Type kb@example.com to confirm', removing));
      await page.keyboard.type('kb@example.com');
      await keys.tabTo(removing.getByRole('combobox', { name: 'Reason' }));
      await keys.press('Enter', 'ArrowDown', 'Enter');
      await keys.activate(removing.getByRole('button', { name: 'Remove suppression' }));
      await removing.waitFor({ state: 'hidden' });
      expect(await request<SuppressionListed[]>('GET', 'suppressions?filter=kb@example.com')).toEqual([]);
      await isSomewhere();
    },
    async imports() {
      // Before the key: the browser needs a moment to hand over its file dialog.
      const choosing = page.waitForEvent('filechooser');
      await keys.activate(button('New import').first());
      await keys.activate(dialog('New import').getByRole('button', { name: /^File/ }));
      await (await choosing).setFiles(CSV);
      await keys.activate(button('Upload'));
      await keys.activate(button('Check all rows'));
      await keys.activate(button('Start import'));
      await text('2 users: 2 new, 0 changed, 0 unchanged');
      await isSomewhere();
    },
    replies: () =>
      openPanel((panel) => panel.getByRole('heading', { level: 2, name: /@/ }).first().waitFor()),
    async schedule() {
      const hours = page.getByRole('grid', { name: 'Planned emails by hour' });
      await keys.tabTo(hours.locator('[tabindex="0"]'));
      await keys.arrowTo(hours.getByRole('gridcell', { name: /[1-9]\d* emails?/ }).first());
      await keys.press('Enter');
      await keys.activate(button(/^Postpone the draft for/).first());
      const postponing = dialog('Postpone draft');
      await keys.isOn(field(/^Send at/, postponing));
      await keys.activate(postponing.getByRole('button', { name: 'Postpone', exact: true }));
      await postponing.waitFor({ state: 'hidden' });
      await text(/” postponed to /);
      await isSomewhere();
    },
    async emails() {
      await toFirstRow();
      await keys.press('x');
      await button('Resend 1').waitFor();
      await keys.press('Escape');
      await keys.press('Enter');
      await page.waitForURL('**/emails/*');
      await page.getByRole('tab', { name: 'Email', selected: true }).waitFor();
      await isSomewhere();
    },
    async 'emails/:item'() {
      await toTab('Email', 'Headers');
      await keys.press('Shift+Tab');
      await keys.activate(page.getByRole('link', { name: 'Open draft' }));
      await page.waitForURL('**/drafts/*');
      await isSomewhere();
    },
    async 'test-inbox'() {
      await toFirstRow();
      await keys.press('Enter');
      await page.waitForURL('**/test-inbox/*');
      await isSomewhere();
    },
    async 'test-inbox/:item'() {
      await toTab('Email', 'Text');
      await page.getByLabel('Plain text of the email').waitFor();
      await keys.tabTo(page.getByLabel('Plain text of the email'));
    },
    async insights() {
      await keys.tabTo(page.getByRole('combobox', { name: 'Range' }));
      await keys.press('Enter');
      await keys.arrowTo(page.getByRole('option', { name: /90 days/ }), 'ArrowDown');
      await keys.press('Enter');
      await page.waitForURL('**/insights?range=90d');
      await keys.isOn(page.getByRole('combobox', { name: 'Range' }));
      const chart = page.getByRole('group', { name: /^Emails over time/ });
      await keys.tabTo(chart.locator('svg[tabindex="0"]'));
      const announced = chart.getByRole('status');
      await expect.poll(() => announced.innerText()).toMatch(/: Sent \d+/);
      const first = await announced.innerText();
      await keys.press('ArrowRight');
      await expect.poll(() => announced.innerText()).not.toBe(first);
      await keys.press('Enter');
      await arrived('Sent emails');
      expect(new URL(page.url()).searchParams.get('filter')).toMatch(/^sent:\d{4}-/);
    },
    async activity() {
      await opener().waitFor();
      await keys.press('p');
      await button(/^Resume/).waitFor();
      await keys.press('/');
      await page.keyboard.type('type:event ');
      await expect.poll(() => new URL(page.url()).searchParams.get('filter')).toBe('type:event');
      await keys.press('Escape', 'Escape');
      await openPanel((panel) =>
        panel
          .getByText(/properties/)
          .first()
          .waitFor(),
      );
      await keys.press('p');
      await button(/^Pause/).waitFor();
    },
    requests: () => openPanel((panel) => panel.getByText('Sample call').first().waitFor()),
    async 'dead-letters'() {
      await toFirstRow();
      await keys.press('x');
      await keys.activate(button('Retry 1'));
      await text('No dead-lettered records');
      await expect.poll(() => request<UserDetails>('GET', 'users/kb9').catch(() => null)).not.toBe(null);
      await isSomewhere();
    },
    events: () => openPanel((panel) => panel.getByText('Properties').first().waitFor()),
    async webhooks() {
      // A demo sends no webhooks.
      await visit(`/p/${owner.own}/webhooks`);
      const url = 'https://hooks.acme.test/in';
      await typeInDialog(button('Add endpoint').first(), ['Add endpoint', 'URL', url]);
      await keys.press('Enter');
      await storeSecret('Signing secret');
      await page.getByRole('link', { name: url }).waitFor();
      await isSomewhere();
    },
    async 'webhooks/:item'() {
      const { data } = await owner.session.request<{ data: { id: string } }>(
        'POST',
        `/projects/${owner.own}/webhooks`,
        { url: 'https://hooks.acme.test/two' },
      );
      await visit(`/p/${owner.own}/webhooks/${data.id}`);
      await keys.activate(button('More'));
      await keys.arrowTo(page.getByRole('menuitem', { name: 'Edit…' }), 'ArrowDown');
      await keys.press('Enter');
      const editing = page.getByRole('dialog');
      await keys.fill(field('Description', editing), 'Changed by keyboard');
      await keys.press('Enter');
      await editing.waitFor({ state: 'hidden' });
      await text('Changed by keyboard');
      await keys.isOn(button('More'));
      await keys.activate(button('Send test event'));
      await text(/^Test event (failed|delivered)/);
      await keys.isOn(button('Send test event'));
    },
    async 'settings/sender'() {
      await keys.fill(field('Name'), 'Ada by keyboard');
      await keys.press('ControlOrMeta+s');
      await text('Emails come from Ada by keyboard');
      await keys.isOn(field('Name'));
    },
    async 'settings/domains'() {
      await typeInDialog(button('Add domain').first(), ['Add domain', 'Domain', 'mail.keyboard.test']);
      await keys.press('Enter');
      await arrived('mail.keyboard.test');
    },
    async 'settings/sending-policy'() {
      const quiet = page.getByRole('switch', { name: 'Use quiet hours' });
      await keys.tabTo(quiet);
      const before = await quiet.isChecked();
      await keys.press('Space');
      await page.getByRole('region', { name: 'Unsaved changes' }).waitFor();
      await keys.activate(button('Save'));
      await page.getByText('Saved', { exact: true }).waitFor();
      await expect.poll(() => quiet.isChecked()).toBe(!before);
      await isSomewhere();
    },
    async 'settings/data'() {
      await keys.fill(field('Events'), '400d');
      await keys.press('ControlOrMeta+s');
      await page.getByText('Saved', { exact: true }).last().waitFor();
      await keys.isOn(field('Events'));
    },
    'settings/audit': () =>
      openPanel((panel) =>
        panel
          .getByText(/Member|Action/)
          .first()
          .waitFor(),
      ),
    async 'settings/api-keys'() {
      await typeInDialog(button('Create key').first(), ['Create API key', 'Label', 'By keyboard']);
      await keys.press('Enter');
      await storeSecret('Your new API key');
      await page.getByRole('row', { name: /By keyboard/ }).waitFor();
      await isSomewhere();
    },
    async 'settings/sandbox'() {
      // The demo has no sandbox.
      await navigateTo(page, `/p/${owner.own}/settings/sandbox`);
      await keys.tabTo(page.getByRole('switch', { name: 'Sandbox on' }));
      await keys.press('Space');
      await keys.activate(page.getByRole('link', { name: 'Open sandbox' }));
      await arrived('Home');
    },
    async 'settings/team'() {
      const invitation: [string, string, string] = ['Invite team member', 'Email', 'keyboard@example.com'];
      const inviting = await typeInDialog(button('Invite'), invitation);
      await keys.tabTo(inviting.getByRole('radio', { checked: true }));
      await keys.arrowTo(inviting.getByRole('radio', { name: 'viewer', exact: true }), 'ArrowDown');
      await keys.press('Enter');
      await keys.activate(inviting.getByRole('button', { name: 'Done' }));
      await page.getByRole('row', { name: /keyboard@example\.com viewer/ }).waitFor();
      await keys.isOn(button('Invite'));
    },
    async 'settings/system'() {
      const bundle = page.getByRole('link', { name: 'Download support bundle' });
      await keys.tabTo(bundle);
      const [download] = await Promise.all([page.waitForEvent('download'), keys.press('Enter')]);
      expect(download.suggestedFilename()).toMatch(/\.json$/);
      await keys.isOn(bundle);
    },
    async projects() {
      await keys.activate(page.getByRole('link', { name: 'Acme', exact: true }));
      await page.waitForURL(`**/p/${owner.own}/home`);
      await isSomewhere();
    },
    async profile() {
      await keys.fill(field('Display name'), 'Ada by keyboard');
      await keys.press('Enter');
      await text('Name saved');
      await keys.isOn(field('Display name'));
    },
    async device() {
      await keys.fill(field('Code'), paths.get('device?code=')?.split('=').at(-1) ?? '');
      await keys.press('Enter');
      await button('Approve').waitFor();
      await isSomewhere();
    },
    async 'device?code='() {
      await keys.tabTo(page.getByRole('checkbox').first());
      await keys.press('Space');
      await keys.activate(button('Approve'));
      await text('continues automatically');
      await isSomewhere();
    },
  };

  test('every screen has a task', () => {
    // relays.test.ts and reply-source.test.ts set up a relay and a reply source by keyboard.
    const tested = [...Object.keys(TASKS), 'settings/relays', 'settings/relays/new', 'settings/reply-source'];
    expect([...paths.keys()].toSorted()).toEqual(tested.toSorted());
  });

  test.each(Object.keys(TASKS))('%s', async (screen) => {
    // A dialog that a failed task left open would cover the next screen.
    onTestFailed(async () => void (await page.reload()));
    await visit(paths.get(screen) ?? expect.unreachable());
    await TASKS[screen]?.();
    expect(owner.pageErrors).toEqual([]);
  });

  test('an invalid field has the focus after a refused form, and shows it', async () => {
    await visit(`/p/${owner.demo}/rules/new`);
    await keys.activate(button('Create rule'));
    await keys.isOn(field('Name'));
    expect(await field('Name').getAttribute('aria-invalid')).toBe('true');
    await keys.tabTo(page.getByRole('combobox', { name: 'Event' }));
    expect(await field('Name').getAttribute('aria-invalid')).toBe('true');
  });

  test('the command menu opens a screen and a user, and the shortcuts open theirs', async () => {
    await navigateTo(page, `/p/${owner.demo}/home`);
    await keys.press('ControlOrMeta+k');
    const menu = dialog('Go to or search');
    await keys.isOn(menu.getByRole('combobox'));
    await page.keyboard.type('user_1026');
    await menu.getByRole('option', { name: /Omar Abe/ }).waitFor();
    await keys.press('Enter');
    await arrived('Omar Abe');
    await keys.press('g', 'w');
    await arrived('Webhooks');
    await keys.press('?');
    await dialog('Keyboard shortcuts').waitFor();
    await keys.press('Escape');
    await arrived('Webhooks');
  });
});
