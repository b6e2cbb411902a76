import type { Browser, Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { emailTo, emailsIn, usersOf, writeEmails } from '../kit/emails.ts';
import { type Session, signedIn } from '../kit/session.ts';

const EMAILS = 230;

describe.skipIf(!hasBrowser)('Review in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session;
  let projectId: number;
  /** The users of the drafts, in the order of the list. */
  let users: string[];
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    ({ projectId, ...session } = await signedIn(person.context, installation));
    await writeEmails({ session, projectId, installation }, usersOf(EMAILS));
  }, 120_000);
  beforeEach(async () => {
    const { emails } = await emailsIn(session, projectId);
    users = emails.map(({ user }) => user.external_user_id);
  });
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const list = (): Locator => page.getByRole('grid', { name: 'Drafts to review' });
  const row = (at: number): Locator =>
    list()
      .getByRole('row')
      .filter({ hasText: `Hello ${users[at]}` });
  const email = (): Locator => page.getByRole('region', { name: 'Draft', exact: true });
  const heading = (): Locator => email().getByRole('heading', { level: 2 });
  const press = (key: string): Promise<void> => page.keyboard.press(key);
  const reads = (at: number): Promise<void> =>
    heading()
      .filter({ hasText: `Hello ${users[at]}` })
      .waitFor();
  const leaves = (at: number): Promise<void> => row(at).waitFor({ state: 'detached' });
  const stateOf = async (at: number): Promise<string> =>
    (await emailTo(session, projectId, users[at] ?? '')).state;
  const deadlineOf = async (at: number): Promise<number> =>
    Date.parse((await emailTo(session, projectId, users[at] ?? '')).deadline_at);
  const isFocused = (target: Locator): Promise<void> => target.and(page.locator(':focus')).waitFor();
  /** Checks that the element has a visible focus. */
  async function showsFocus(target: Locator): Promise<void> {
    await isFocused(target);
    const style = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
    expect(style).not.toBe('none');
  }
  async function open(): Promise<void> {
    await page.goto(`${installation.url}/p/${projectId}/review`);
    await row(0).waitFor();
  }
  /** Records the page's requests that act on single drafts, such as `approve u001`. */
  async function actsOn<T>(work: (acts: string[]) => Promise<T>): Promise<T> {
    const { emails } = await emailsIn(session, projectId);
    const names = new Map(emails.map(({ id, user }) => [id, user.external_user_id]));
    const acts: string[] = [];
    const onRequest = (request: Request): void => {
      const [, id = '', act] = /drafts\/([^/]+)\/(approve|skip|postpone|undo)$/.exec(request.url()) ?? [];
      if (act !== undefined) acts.push(`${act} ${names.get(id)}`);
    };
    page.on('request', onRequest);
    try {
      return await work(acts);
    } finally {
      page.off('request', onRequest);
    }
  }

  test('navigates, reads and edits drafts by keyboard alone, and always shows the focus', async () => {
    await page.goto(`${installation.url}/p/${projectId}/home`);
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await press('g');
    await press('r');
    await row(0).waitFor();

    await press('j');
    await reads(1);
    await showsFocus(list());
    expect(await list().getAttribute('aria-activedescendant')).toBe(await row(1).getAttribute('id'));
    await press('k');
    await reads(0);

    const about = page.getByRole('complementary', { name: 'About this draft' });
    await press('w');
    await about.getByText('hello_said happened').waitFor();
    await showsFocus(about);
    await press('w');
    await about.waitFor({ state: 'detached' });
    await isFocused(list());

    const frame = email().locator('iframe');
    await press('2');
    await email().locator('iframe[data-width="mobile"]').waitFor();
    await press('3');
    await email().locator('iframe[src*="scheme=dark"]').waitFor();
    await press('4');
    await email().getByText('clipping limit').waitFor();
    expect(await frame.count()).toBe(0);
    await press('1');
    await page.frameLocator('iframe').getByText('Hello again.').waitFor();

    await press('e');
    const subject = email().getByRole('textbox', { name: 'Subject' });
    await isFocused(subject);
    await press('End');
    await page.keyboard.type(', and good day');
    await press('Escape');
    await email().getByText('You have unsaved changes').waitFor();
    await isFocused(list());
    await press('e');
    expect(await subject.inputValue()).toBe(`Hello ${users[0]}, and good day`);
    await press('ControlOrMeta+s');
    await heading().filter({ hasText: 'and good day' }).waitFor();
    await isFocused(list());
  });

  test('removes a draft from the list at once after a decision by key, and restores it with `u`', async () => {
    await open();
    const before = await deadlineOf(0);
    await press('h');
    await page.getByRole('dialog', { name: 'Postpone draft' }).waitFor();
    await press('3');
    await reads(1);
    await page.getByText('Postponed to').waitFor();
    expect(await deadlineOf(0)).toBeGreaterThan(before);
    await press('u');
    await vi.waitFor(async () => expect(await deadlineOf(0)).toBe(before));
    await row(0).waitFor();
    // The draft that came back is selected.
    await reads(0);

    await press('j');
    await reads(1);
    await press('s');
    await isFocused(page.getByRole('dialog').getByLabel('Reason (optional)'));
    await page.keyboard.type('Wrong person');
    await press('Enter');
    await leaves(1);
    await reads(2);
    await vi.waitFor(async () =>
      expect(await emailTo(session, projectId, users[1] ?? '')).toMatchObject({
        state: 'skipped',
        reason: 'Wrong person',
      }),
    );

    await press('a');
    await leaves(2);
    await page.getByText(`Approved “Hello ${users[2]}”`).waitFor();
    await press('u');
    await row(2).waitFor();
    expect(await stateOf(2)).toBe('scheduled');

    await press('Enter');
    await page.waitForURL('**/drafts/*');
    await page.getByRole('tab', { name: 'History' }).waitFor();
    await isFocused(page.getByRole('heading', { level: 1 }));
  });

  test('approves several drafts at once after a preview of the effect', async () => {
    await open();
    await press('x');
    await press('Shift+J');
    await press('Shift+J');
    await page.getByRole('region', { name: 'Selected drafts' }).getByText('3 selected').waitFor();
    await press('a');
    const dialog = page.getByRole('dialog', { name: 'Approve selected drafts' });
    await dialog.getByText('3 of 3 drafts to 3 users').waitFor();
    await dialog.getByText('3 would be sent ten seconds after approval').waitFor();
    await showsFocus(dialog.getByRole('button', { name: 'Approve 3' }));
    await press('Enter');
    await page.getByText('3 drafts approved').waitFor();
    for (const at of [0, 1, 2]) await leaves(at);
    await dialog.waitFor({ state: 'detached' });
    await isFocused(list());
    await reads(3);
  });

  test('removes the row before the server responds, and restores it with the reason of a refusal', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    // The route is set before the page opens: a page that is open already may send its next request past it.
    await page.route('**/drafts/*/approve', async (route) => {
      await held;
      const message = 'Its rule was disabled';
      await route.fulfill({ status: 409, json: { errors: [{ code: 'conflict', message }] } });
    });
    await open();
    await press('a');
    await leaves(0);
    await reads(1);
    release();
    await row(0).waitFor();
    await page.getByRole('alert').getByText('Its rule was disabled').waitFor();
    await page.unroute('**/drafts/*/approve');
    expect(await stateOf(0)).toBe('scheduled');
  });

  test('decides about one draft on a double click, on the page and in a dialog', async () => {
    // The usual setting: a closed dialog stays for a moment and can be clicked.
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await open();
    await press('j');
    await reads(1);
    await press('k');
    await reads(0);
    await actsOn(async (acts) => {
      await email().getByRole('button', { name: 'Approve' }).dblclick();
      await leaves(0);
      await reads(1);
      await email().getByRole('button', { name: 'Skip' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Skip', exact: true }).dblclick();
      await leaves(1);
      await reads(2);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(acts).toEqual([`approve ${users[0]}`, `skip ${users[1]}`]);
    });
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });

  test('undoes the last action with `u`, even before the server has responded', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let approvals = 0;
    await page.route('**/drafts/*/approve', async (route) => {
      approvals += 1;
      if (approvals === 2) await held;
      await route.continue();
    });
    await open();
    await actsOn(async (acts) => {
      await press('a');
      await page.getByText(`Approved “Hello ${users[0]}”`).waitFor();
      await reads(1);
      await press('a');
      await leaves(1);
      await press('u');
      release();
      await row(1).waitFor();
      await vi.waitFor(() => expect(acts).toContain(`undo ${users[1]}`));
      expect(acts).not.toContain(`undo ${users[0]}`);
    });
    await page.unroute('**/drafts/*/approve');
    await vi.waitFor(async () => expect(await stateOf(1)).toBe('scheduled'));
  });

  test('reports a lost response, and offers to undo what may have been done', async () => {
    await page.route('**/drafts/*/approve', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await open();
    await press('a');
    const alert = page
      .getByRole('alert')
      .filter({ hasText: 'No response: this may or may not have been done' });
    await alert.waitFor();
    expect(await stateOf(0)).toBe('approved');
    await alert.getByRole('button', { name: 'Undo' }).click();
    await vi.waitFor(async () => expect(await stateOf(0)).toBe('scheduled'));
    await page.unroute('**/drafts/*/approve');
  });

  test('keeps showing an email that left the list while it was being read, and `j` continues from its position', async () => {
    await open();
    await reads(0);
    const [first] = (await emailsIn(session, projectId)).emails;
    await session.request('POST', `/projects/${projectId}/drafts/${first?.id}/skip`, {});
    await leaves(0);
    await reads(0);
    await press('j');
    await reads(1);
  });

  test('renders no empty rows when scrolled at 2,000 pixels per second', async () => {
    await open();
    const seen = await page.evaluate<{ frames: number; gaps: string[]; top: number }>(SCROLL);
    expect(seen.gaps).toEqual([]);
    expect(seen.frames).toBeGreaterThan(10);
    expect(seen.top).toBeGreaterThan(5_000);
    expect(pageErrors).toEqual([]);
  });
});

/** Inspects each frame right before it is painted. */
const SCROLL = `new Promise((resolve) => {
  const list = document.querySelector('[role="grid"]');
  const [speed, ms] = [2000, 4000];
  const gaps = [];
  let frames = 0;
  const { left, top, height } = list.getBoundingClientRect();
  const begun = performance.now();
  const look = (now) => {
    frames += 1;
    for (let y = 2; y < height - 2; y += 40)
      if (!document.elementFromPoint(left + 60, top + y)?.closest('[role="row"]'))
        gaps.push(Math.round(list.scrollTop) + ': ' + y);
    if (now - begun > ms) return resolve({ frames, gaps, top: list.scrollTop });
    list.scrollTop = ((now - begun) / 1000) * speed;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;
