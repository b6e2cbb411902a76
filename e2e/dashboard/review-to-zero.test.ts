import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasBrowser, violationsOf } from '../kit/browser.ts';
import { emailsIn, emailTo, usersOf, writeEmails } from '../kit/emails.ts';
import { ownerInBrowser, type OwnerInBrowser } from '../kit/owner-in-browser.ts';

const WITHIN = { timeout: 30_000, interval: 200 };
const WITHOUT_ADDRESS = ['n1', 'n2', 'n3', 'n4'];
const TRIAL_RULE = {
  name: 'Trial only',
  when: { event: 'trial_asked' },
  only_if: { trait: 'plan', equals: 'trial' },
  deadline: '4h',
  steps: [{ draft: { subject: 'Trial {{ user.name }}', body: 'Hello' } }],
};

describe.skipIf(!hasBrowser)('Review to zero in Chromium', () => {
  let owner: OwnerInBrowser;
  let page: Page;
  beforeAll(async () => {
    owner = await ownerInBrowser();
    ({ page } = owner);
    const { session, projectId, installation } = owner;
    await writeEmails({ session, projectId, installation }, usersOf(3));
    for (const user of WITHOUT_ADDRESS) {
      await owner.post('users', { external_user_id: user, traits: { name: user } });
      await owner.post('events', { external_user_id: user, name: 'hello_said' });
    }
    for (const user of WITHOUT_ADDRESS) await vi.waitUntil(() => isDrafted(user), WITHIN);
  }, 180_000);
  afterAll(() => owner.close());

  const list = (): Locator => page.getByRole('grid', { name: 'Drafts to review' });
  const drafts = (): Locator => list().locator('[id^="draft-"]');
  const row = (text: string): Locator => list().getByRole('row').filter({ hasText: text });
  const current = (text: string): Locator => row(text).and(page.locator('[aria-current="true"]'));
  const email = (): Locator => page.getByRole('region', { name: 'Draft', exact: true });
  const isReading = (text: string): Promise<void> =>
    email().getByRole('heading', { level: 2, name: text }).waitFor();
  const stateOf = async (user: string): Promise<string> =>
    (await emailTo(owner.session, owner.projectId, user)).state;
  const isDrafted = (user: string): Promise<boolean> =>
    stateOf(user).then(
      () => true,
      () => false,
    );
  /** The users of the drafts that wait, in the order of the list. */
  const usersIn = async (state: 'scheduled' | 'held'): Promise<string[]> => {
    const { emails } = await emailsIn(owner.session, owner.projectId);
    return emails.filter((draft) => draft.state === state).map(({ user }) => user.external_user_id);
  };
  async function open(search = ''): Promise<void> {
    await page.goto(`${owner.url}/p/${owner.projectId}/review${search}`);
    await page.getByRole('heading', { name: 'Review', level: 1 }).waitFor();
  }
  const openFold = async (): Promise<void> => {
    await list().getByRole('button', { name: '4 without an address', exact: true }).click();
    await row('n1').waitFor();
  };

  test('folds drafts without an address, and keys move past them until the fold is open', async () => {
    await open();
    const fold = list().getByRole('button', { name: '4 without an address', exact: true });
    await fold.waitFor();
    expect(await drafts().count()).toBe(3);
    expect(await fold.getAttribute('aria-expanded')).toBe('false');
    const [first = '', second = '', third = ''] = await usersIn('scheduled');
    await current(first).waitFor();
    for (const user of [second, third, third]) {
      await page.keyboard.press('j');
      await current(user).waitFor();
    }
    await openFold();
    expect(await drafts().count()).toBe(7);
    await page.keyboard.press('j');
    await current((await usersIn('held'))[0] ?? '').waitFor();
    await fold.click();
    await row('n1').waitFor({ state: 'detached' });
  });

  test('skips all drafts of a fold with one confirmation, and `u` brings them back', async () => {
    await open();
    await list().getByRole('button', { name: 'Skip all: 4 without an address' }).click();
    const dialog = page.getByRole('dialog', { name: 'Skip similar drafts' });
    await dialog.getByText('4 of 4 drafts to 4 users').waitFor();
    await dialog.getByRole('button', { name: 'Skip 4' }).click();
    await page.getByText('4 drafts skipped').waitFor();
    await row('without an address').waitFor({ state: 'detached' });
    for (const user of WITHOUT_ADDRESS) expect(await stateOf(user)).toBe('skipped');
    expect(await drafts().count()).toBe(3);
    await page.keyboard.press('u');
    await row('4 without an address').waitFor();
    for (const user of WITHOUT_ADDRESS) await expect.poll(() => stateOf(user)).toBe('held');
  });

  test('a draft without an address cannot be approved, by button, key or from the editor', async () => {
    await open();
    await openFold();
    await row('n1').click();
    await isReading('Hello n1');
    const approve = email().getByRole('button', { name: 'Approve' });
    expect(await approve.isDisabled()).toBe(true);
    const requests: string[] = [];
    const onRequest = (request: Request): void => {
      if (/\/(approve|edit)$/.test(request.url())) requests.push(request.url());
    };
    page.on('request', onRequest);
    await page.keyboard.press('a');
    await page.keyboard.press('e');
    const subject = email().getByRole('textbox', { name: 'Subject' });
    await subject.fill('Never sent');
    expect(await email().getByRole('button', { name: 'Save and approve' }).isDisabled()).toBe(true);
    await subject.press('ControlOrMeta+Enter');
    await email().getByRole('button', { name: 'Discard' }).click();
    await subject.waitFor({ state: 'detached' });
    page.off('request', onRequest);
    expect(requests).toEqual([]);
    expect(await stateOf('n1')).toBe('held');
  });

  test('after a decision the next draft is selected and shown from memory', async () => {
    const [first = '', second = ''] = await usersIn('scheduled');
    await open();
    await isReading(`Hello ${first}`);
    const ahead = await emailTo(owner.session, owner.projectId, second);
    await page.waitForFunction(
      `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('${ahead.id}'))`,
    );
    await page.route(`**/drafts/${ahead.id}`, (route) => route.abort());
    await page.keyboard.press('a');
    await current(second).waitFor();
    await isReading(`Hello ${second}`);
    await page.unroute(`**/drafts/${ahead.id}`);
    await page.getByRole('button', { name: 'Undo' }).first().waitFor();
    await page.keyboard.press('u');
    await current(first).waitFor();
    await expect.poll(() => stateOf(first)).toBe('scheduled');
  });

  test('Save and approve asks first if the condition of the rule is no longer met', async () => {
    const { session, project, post } = owner;
    await session.request('POST', `${project}/rules`, { document: TRIAL_RULE });
    await session.request('POST', `${project}/rules/${encodeURIComponent(TRIAL_RULE.name)}/switch`, {
      on: true,
    });
    await post('users', {
      external_user_id: 'tess',
      email: 'tess@example.com',
      traits: { name: 'tess', plan: 'trial' },
    });
    await post('events', { external_user_id: 'tess', name: 'trial_asked' });
    await expect.poll(() => isDrafted('tess')).toBe(true);
    await post('users', { external_user_id: 'tess', traits: { plan: 'paid' } });
    const { id } = await emailTo(session, owner.projectId, 'tess');
    type Whole = { data: { rule_holds: boolean | null } };
    const holds = async (): Promise<boolean | null> =>
      (await session.request<Whole>('GET', `${project}/drafts/${id}`)).data.rule_holds;
    await expect.poll(holds).toBe(false);

    await open(`?draft=${id}`);
    await isReading('Trial tess');
    await page.keyboard.press('e');
    await email().getByRole('textbox', { name: 'Subject' }).fill('Trial, once more');
    await page.keyboard.press('ControlOrMeta+Enter');
    const dialog = page.getByRole('dialog', { name: 'Send it anyway?' });
    await dialog.getByText('condition is no longer met').waitFor();
    // The edit is saved, and nothing is approved without the answer.
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await isReading('Trial, once more');
    expect(await stateOf('tess')).toBe('scheduled');
    await page.keyboard.press('a');
    await dialog.getByRole('button', { name: 'Approve anyway' }).click();
    await page.getByText('Approved “Trial, once more”').waitFor();
    await row('tess').waitFor({ state: 'detached' });
    expect(['approved', 'sending', 'sent']).toContain(await stateOf('tess'));
  });

  test('the list ends with the tally of the day, and Decided says who decided what', async () => {
    const [first = '', second = '', third = ''] = await usersIn('scheduled');
    await open();
    await isReading(`Hello ${first}`);
    await page.keyboard.press('a');
    await row(first).waitFor({ state: 'detached' });
    await isReading(`Hello ${second}`);
    await page.keyboard.press('s');
    await page.getByRole('dialog').getByLabel('Reason (optional)').fill('Already in contact');
    await page.keyboard.press('Enter');
    await row(second).waitFor({ state: 'detached' });
    await isReading(`Hello ${third}`);
    await page.keyboard.press('a');
    await row(third).waitFor({ state: 'detached' });
    await list().getByRole('button', { name: 'Skip all: 4 without an address' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Skip 4' }).click();
    await page.getByText('All caught up').waitFor();
    const tally = page.getByRole('region', { name: 'Decided today' });
    const totals = async (): Promise<string[]> =>
      (await tally.locator('dl > div').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
    await expect.poll(totals).toEqual(['approved 3', 'edited 1', 'skipped 5', 'postponed 0']);

    await tally.getByRole('link', { name: 'View decided drafts' }).click();
    const table = page.getByRole('table', { name: 'Decided drafts' });
    const rows = table.locator('[role="row"][data-row]');
    await expect.poll(() => rows.count()).toBe(9);
    const skipped = rows.filter({ hasText: `Hello ${second}` });
    await skipped.getByText('Already in contact').waitFor();
    await skipped.getByText('ada', { exact: true }).waitFor();
    const filter = page.getByRole('combobox', { name: 'Filter decided drafts' });
    await filter.fill('action:approve ');
    await expect.poll(() => rows.count()).toBe(3);
    await page.keyboard.press('Backspace');
    await expect.poll(() => rows.count()).toBe(9);
    await filter.fill('action:nothing ');
    await page.getByText(/is not a value of action/).waitFor();
    await page.keyboard.press('Backspace');
    await filter.fill(second);
    await expect.poll(() => rows.count()).toBe(1);
    await page.keyboard.press('Escape');
    await rows.getByRole('link').first().click();
    await page
      .getByRole('heading', { name: `Hello ${second}` })
      .first()
      .waitFor();
    expect(new URL(page.url()).pathname).toContain('/drafts/');
    await page.goBack();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('link', { name: 'To review' }).click();
    await page.getByText('All caught up').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(owner.pageErrors).toEqual([]);
  });
});
