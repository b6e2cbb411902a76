import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { emailsIn, emailTo, usersOf, writeEmails } from '../kit/emails.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { serverWith } from '../kit/public-api.ts';
import { type Session, signedIn } from '../kit/session.ts';

/**
 * The list is reloaded at most every two seconds. After `isFrozen` is set, the page shows only what it puts there itself, or loads at once.
 */
const TWO_SECONDS = `
  Object.assign(globalThis, { isFrozen: false, resting: 0, rested: 0 });
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (run, ms, ...rest) => {
    if (ms !== 2000) return later(run, ms, ...rest);
    if (isFrozen) return 0;
    resting += 1;
    return later(() => {
      resting -= 1;
      rested += 1;
      run();
    }, ms);
  };
`;

/** Lists the actions that a pointer would reach if no notification were over their middle. */
const COVERED = `(() => {
  const notices = [...document.querySelectorAll('.mantine-Notification-root')];
  const actions = [...document.querySelectorAll('main button, main a, nav a, nav button')];
  const reached = () => actions.filter((action) => {
    const { left, top, width, height } = action.getBoundingClientRect();
    return action.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
  const now = new Set(reached());
  for (const notice of notices) notice.style.pointerEvents = 'none';
  const without = reached();
  for (const notice of notices) notice.style.pointerEvents = '';
  return without.filter((action) => !now.has(action)).map((action) => action.outerHTML);
})()`;

/** More than the controls between the buttons of a draft and its email. */
const STOPS_MAX = 30;

describe.skipIf(!hasBrowser)('decisions in Review in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session;
  let projectId: number;
  const users = usersOf(5);
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const owner = await newPerson(browser);
    ({ page, pageErrors } = owner);
    ({ projectId, ...session } = await signedIn(owner.context, installation));
    await writeEmails({ session, projectId, installation }, users);
    await page.addInitScript(TWO_SECONDS);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const list = (): Locator => page.getByRole('grid', { name: 'Drafts to review' });
  const rows = (): Locator =>
    list().getByRole('row').filter({ hasText: '@' }).or(list().locator('[id^="draft-"]'));
  const row = (text: string): Locator => list().getByRole('row').filter({ hasText: text });
  const current = (text: string): Locator => row(text).and(page.locator('[aria-current="true"]'));
  const email = (): Locator => page.getByRole('region', { name: 'Draft', exact: true });
  const subject = (): Locator => email().getByRole('textbox', { name: 'Subject' });
  const save = (): Locator => email().getByRole('button', { name: 'Save', exact: true });
  const undoButton = (): Locator => page.getByRole('button', { name: 'Undo' });
  const isReading = (text: string | RegExp): Promise<void> =>
    email().getByRole('heading', { level: 2, name: text }).waitFor();
  const hasRested = (): Promise<boolean> => page.evaluate('rested > 0 && resting === 0');
  const stateOf = async (user: string): Promise<string> => (await emailTo(session, projectId, user)).state;
  const freeze = (): Promise<void> => page.evaluate('void (globalThis.isFrozen = true)');
  async function open(): Promise<string[]> {
    await page.goto(`${installation.url}/p/${projectId}/review`);
    await rows().first().waitFor();
    await freeze();
    return (await emailsIn(session, projectId)).emails.map(({ user }) => user.external_user_id);
  }

  test('a saved edit keeps its row, and the next key acts on it', async () => {
    const [user = ''] = await open();
    await isReading(`Hello ${user}`);
    await page.keyboard.press('e');
    await subject().fill(`Edited ${user}`);
    await save().click();
    await current(`Edited ${user}`).waitFor();
    expect(await rows().count()).toBe(users.length);
    const approved = page.waitForResponse((response) => response.url().endsWith('/approve'));
    await page.keyboard.press('a');
    expect((await approved).status()).toBe(200);
    await row(`Edited ${user}`).waitFor({ state: 'detached' });
    await page.keyboard.press('u');
    await current(`Edited ${user}`).waitFor();
  });

  test('Ctrl+Enter in any field of the editor saves and approves', async () => {
    const [, user = ''] = await open();
    await page.keyboard.press('j');
    await isReading(`Hello ${user}`);
    await page.keyboard.press('e');
    await subject().fill(`Final ${user}`);
    await email().getByRole('textbox', { name: 'Body' }).focus();
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByText(`Approved “Final ${user}”`).waitFor();
    await row(user).waitFor({ state: 'detached' });
    expect(await stateOf(user)).toBe('approved');
    await page.keyboard.press('u');
    await current(`Final ${user}`).waitFor();
    await expect.poll(() => stateOf(user)).toBe('scheduled');
  });

  test('notifications cover no action', async () => {
    const [user = ''] = await open();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 700 });
      await open();
      if (width === 390) await row(user).click();
      await page.locator('#page-title, h2').first().waitFor();
      await page.keyboard.press('e');
      await subject().fill(`Twice ${width} ${user}`);
      await save().click();
      await page.getByText('Saved. The email will be sent').waitFor();
      await page.keyboard.press('e');
      await save().evaluate((button) => {
        (button as unknown as { scrollIntoView: (to: object) => void }).scrollIntoView({ block: 'end' });
      });
      await page.getByText('Saved. The email will be sent').waitFor();
      expect(await page.evaluate(COVERED)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('the offer has a word, its key and a countdown, also below a long message', async () => {
    const [user = ''] = await open();
    const draft = await emailTo(session, projectId, user);
    const text = `A subject that is as long as some are ${'and longer '.repeat(12)}`.trim();
    await session.request('POST', `/projects/${projectId}/drafts/${draft.id}/edit`, { subject: text });
    await open();
    await isReading(text);
    await page.keyboard.press('a');
    await undoButton().waitFor();
    const offer = page.getByRole('status').filter({ has: undoButton() });
    expect((await offer.innerText()).trim()).toMatch(/Undo\s+u\s+\d+ s left$/);
    const isCut = await undoButton().evaluate((button) => {
      const { scrollWidth, clientWidth } = button as unknown as { scrollWidth: number; clientWidth: number };
      return scrollWidth > clientWidth;
    });
    expect(isCut).toBe(false);
    expect((await undoButton().innerText()).trim()).toBe('Undo');
    await undoButton().click();
    await current(text).waitFor();
  });

  test('a draft whose approval ends after Review was left is not listed again', async () => {
    const [user = ''] = await open();
    await isReading(/./);
    await page.route('**/approve', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    const approved = page.waitForResponse('**/approve');
    await page.keyboard.press('a');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await approved;
    await page.unroute('**/approve');
    await undoButton().waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Review', level: 1 }).waitFor();
    await rows().first().waitFor();
    await row(user).waitFor({ state: 'detached' });
    await page.keyboard.press('u');
    await row(user).waitFor();
    expect(pageErrors).toEqual([]);
  });

  test('`u` returns the last drafts to the empty list and selects them, wherever the focus is', async () => {
    const order = await open();
    for (const user of order) {
      await row(user).waitFor();
      await page.keyboard.press('a');
      await row(user).waitFor({ state: 'detached' });
    }
    await page.getByText('All caught up').waitFor();
    const last = order.at(-1) ?? '';
    await page.getByRole('link', { name: 'View rules' }).focus();
    await page.keyboard.press('u');
    await current(last).waitFor();
    await isReading(/./);
    await page.keyboard.press('a');
    await page.getByText('All caught up').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).focus();
    await page.keyboard.press('u');
    await current(last).waitFor();
    expect(await rows().count()).toBe(1);
    // The offer stays when the screen with the list is left.
    await page.keyboard.press('a');
    await page.getByText('All caught up').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.keyboard.press('u');
    await expect.poll(() => stateOf(last)).toBe('scheduled');
    expect(new URL(page.url()).pathname).toBe(`/p/${projectId}/home`);
    expect(pageErrors).toEqual([]);
  });

  test('a new draft is in the list as soon as the sidebar counts it', async () => {
    await page.goto(`${installation.url}/p/${projectId}/review`);
    await rows().first().waitFor();
    // The reload after the connection of the feed is over.
    await expect.poll(hasRested).toBe(true);
    await freeze();
    const shownBefore = (await emailsIn(session, projectId)).waiting;
    type Made = { data: { secret: string } };
    const { data } = await session.request<Made>('POST', `/projects/${projectId}/keys`, {
      label: 'More',
    });
    const post = serverWith(data.secret, installation);
    const newcomer = { external_user_id: 'newcomer', email: 'new@example.com', traits: { name: 'newcomer' } };
    await post('users', newcomer);
    await post('events', { external_user_id: 'newcomer', name: 'hello_said' });
    await page
      .getByRole('navigation')
      .getByText(String(shownBefore + 1), { exact: true })
      .waitFor();
    await row('newcomer').waitFor();
  });

  test('the Tab key passes the frame of an email while an undo is offered', async () => {
    await open();
    await email().locator('iframe').first().waitFor();
    await page.keyboard.press('a');
    await undoButton().waitFor();
    await email().locator('iframe').first().waitFor();
    await email().getByRole('button', { name: 'Approve', exact: true }).focus();
    const isBehind = 'document.querySelector("iframe").compareDocumentPosition(document.activeElement) & 4';
    let stops = 0;
    while (stops < STOPS_MAX && (await page.evaluate<number>(isBehind)) === 0) {
      await page.keyboard.press('Tab');
      stops += 1;
      expect(await page.evaluate<string>('document.activeElement.tagName')).not.toMatch(/IFRAME|BODY/);
    }
    expect(stops).toBeLessThan(STOPS_MAX);
    await page.keyboard.press('u');
    await undoButton().waitFor({ state: 'detached' });
  });

  test('on a phone, Back leads from an opened draft to the list', async () => {
    const { page: phone, context } = await newPerson(browser, { width: 390, height: 844 });
    await context.addCookies(await page.context().cookies());
    await phone.goto(`${installation.url}/p/${projectId}/home`);
    await phone.getByRole('button', { name: 'Navigation' }).click();
    await phone.getByRole('navigation').getByRole('link', { name: 'Review' }).click();
    const drafts = phone.getByRole('grid', { name: 'Drafts to review' });
    const first = drafts.locator('[id^="draft-"]').first();
    for (const back of [
      () => phone.goBack(),
      () => phone.getByRole('button', { name: 'All drafts' }).click(),
    ]) {
      await first.click();
      await drafts.waitFor({ state: 'hidden' });
      await back();
      await drafts.waitFor();
      expect(new URL(phone.url()).search).toBe('');
    }
    await phone.goBack();
    await phone.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await context.close();
  });
});
