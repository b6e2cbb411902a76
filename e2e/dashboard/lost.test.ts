import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { OWNER } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { emailsIn, usersOf, writeEmails } from '../kit/emails.ts';
import { type Session, sessionOf, signedIn } from '../kit/session.ts';

describe.skipIf(!hasBrowser)('unsaved work in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session;
  let projectId: number;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    ({ projectId, ...session } = await signedIn(person.context, installation));
    await writeEmails({ session, projectId, installation }, usersOf(6));
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const rows = (): Locator =>
    page.getByRole('grid', { name: 'Drafts to review' }).getByRole('row').filter({ hasText: 'Hello' });
  const email = (): Locator => page.getByRole('region', { name: 'Draft', exact: true });
  const subject = (): Locator => email().getByRole('textbox', { name: 'Subject' });
  const banner = (): Locator => page.getByText('Connection lost, reconnecting');
  const notSaved = (): Locator => email().getByRole('alert').filter({ hasText: 'Not saved' });
  const notOpened = (): Locator => email().getByRole('alert').filter({ hasText: 'could not be opened' });
  const heading = (name: string): Locator => email().getByRole('heading', { level: 2, name });
  /** Opens the editor and types without saving. */
  async function write(words: string): Promise<void> {
    await page.goto(`${installation.url}/p/${projectId}/review`);
    await email().getByRole('heading', { level: 2 }).waitFor();
    await page.keyboard.press('e');
    await subject().fill(words);
  }
  /** A reload removes the mark. */
  const markPage = (): Promise<void> => page.evaluate('void (globalThis.wasNotLoadedAnew = true)');
  const isMarked = (): Promise<boolean> => page.evaluate('globalThis.wasNotLoadedAnew === true');
  let waiting: number;
  beforeEach(async () => {
    ({ waiting } = await emailsIn(session, projectId));
  });

  test('keeps the page working and saves the typed text after the server is killed and restarted', async () => {
    // Simulates a server that stops while the editor opens.
    await page.route('**/open-editor', (route) => route.abort());
    await write('Typed while it was gone');
    await notOpened().waitFor();
    await page.unroute('**/open-editor');
    // The editor is loaded after the page, and needs the server for that.
    await email().getByRole('button', { name: 'Bold' }).waitFor();
    await markPage();
    await installation.kill();
    await banner().waitFor();
    expect(await rows().count()).toBe(waiting);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await notSaved().waitFor();
    await installation.start();
    await banner().waitFor({ state: 'detached' });
    await notOpened().waitFor({ state: 'detached' });
    expect(await subject().inputValue()).toBe('Typed while it was gone');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await heading('Typed while it was gone').waitFor();

    const [first] = (await emailsIn(session, projectId)).emails;
    await session.request('POST', `/projects/${projectId}/drafts/${first?.id}/skip`, { reason: 'elsewhere' });
    await expect.poll(() => rows().count()).toBe(waiting - 1);
    expect(await isMarked()).toBe(true);
  });

  test('restores a session that ended while typing in a dialog over the page, and continues saving', async () => {
    await write('Typed without a session');
    await markPage();
    const { context } = await newPerson(browser);
    const otherSession = sessionOf(context, installation);
    await otherSession.request('POST', '/sign-in', OWNER);
    await otherSession.request('POST', '/sessions/end-others');
    await page.keyboard.press('ControlOrMeta+s');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Email').fill(OWNER.email);
    await dialog.getByLabel('Password', { exact: true }).fill(OWNER.password);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await heading('Typed without a session').waitFor();
    expect(await isMarked()).toBe(true);
    await context.close();
  });

  test('keeps the page while a screen cannot be loaded, and loads it when the server answers', async () => {
    await page.goto(`${installation.url}/p/${projectId}/review`);
    await email().getByRole('heading', { level: 2 }).waitFor();
    await markPage();
    await installation.kill();
    await page.getByRole('link', { name: 'Templates' }).click();
    await banner().waitFor();
    expect(await isMarked()).toBe(true);
    await installation.start();
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
    expect(await isMarked()).toBe(false);
  });

  test('restores unsaved text after a reload', async () => {
    await write('Typed and not saved');
    await page.reload();
    await subject().waitFor();
    expect(await subject().inputValue()).toBe('Typed and not saved');
    await page.keyboard.press('Escape');
    await email().getByText('You have unsaved changes').waitFor();
    await email().getByRole('button', { name: 'Continue editing' }).click();
    expect(await subject().inputValue()).toBe('Typed and not saved');
    expect(pageErrors).toEqual([]);
  });
});
