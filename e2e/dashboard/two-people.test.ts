import { randomUUID } from 'node:crypto';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { emailsIn, usersOf, writeEmails } from '../kit/emails.ts';
import { type Session, sessionOf, signedIn } from '../kit/session.ts';

type MemberInBrowser = { page: Page; session: Session; pageErrors: string[] };

describe.skipIf(!hasBrowser)('two concurrent members in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let projectId: number;
  let ada: MemberInBrowser;
  let grace: MemberInBrowser;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const first = await newPerson(browser);
    const { projectId: id, ...session } = await signedIn(first.context, installation);
    projectId = id;
    ada = { ...first, session };
    await session.request('POST', '/profile', { name: 'Ada' });
    await writeEmails({ session, projectId, installation }, usersOf(6));
    const invite = { email: 'grace@example.com', role: 'editor' };
    const { data } = await session.request<{ data: { link: string } }>(
      'POST',
      `/projects/${projectId}/invites`,
      invite,
    );
    const second = await newPerson(browser);
    grace = { ...second, session: sessionOf(second.context, installation) };
    const token = new URL(data.link).searchParams.get('token');
    await grace.session.request('POST', '/invites/accept', {
      token,
      name: 'Grace',
      password: 'in a quiet harbour',
    });
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const rowIn = ({ page }: MemberInBrowser, user: string): Locator =>
    page
      .getByRole('grid', { name: 'Drafts to review' })
      .getByRole('row')
      .filter({ hasText: `Hello ${user}` });
  const emailIn = ({ page }: MemberInBrowser): Locator =>
    page.getByRole('region', { name: 'Draft', exact: true });
  /** Opens the first waiting draft in both browsers. */
  async function bothOpen(): Promise<{ id: string; user: string }> {
    const [email] = (await emailsIn(ada.session, projectId)).emails;
    if (!email) throw new Error('nothing waits');
    const user = email.user.external_user_id;
    for (const member of [ada, grace]) {
      await member.page.goto(`${installation.url}/p/${projectId}/review?draft=${email.id}`);
      await rowIn(member, user).waitFor();
      await emailIn(member)
        .getByRole('heading', { level: 2, name: `Hello ${user}` })
        .waitFor();
    }
    return { id: email.id, user };
  }

  test('removes a draft that another member approved from the list, and shows its reader who approved it', async () => {
    const { user } = await bothOpen();
    await ada.page.keyboard.press('a');
    await rowIn(grace, user).waitFor({ state: 'detached' });
    await grace.page.getByText(`Ada approved the draft for ${user}`).waitFor();
    await emailIn(grace).getByText('Ada approved this').waitFor();
    expect(await emailIn(grace).getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    // The draft stays open until she moves on, and no key acted on another one.
    await emailIn(grace)
      .getByRole('heading', { level: 2, name: `Hello ${user}` })
      .waitFor();
  });

  test('locks a draft for others while a member edits it, shows who is editing, and unlocks it afterwards', async () => {
    const { user } = await bothOpen();
    await grace.page.keyboard.press('e');
    await emailIn(ada).getByText('Grace is editing this draft').waitFor();
    await ada.page.keyboard.press('a');
    await ada.page
      .getByRole('alert')
      .getByText(/Grace opened the editor of this draft/)
      .waitFor();
    await rowIn(ada, user).waitFor();
    await grace.page.getByRole('button', { name: 'Discard' }).click();
    await emailIn(ada).getByText('Grace is editing this draft').waitFor({ state: 'detached' });
  });

  test("keeps typed text after another member's edit, shows the difference, and can overwrite the edit", async () => {
    const { id } = await bothOpen();
    await grace.page.keyboard.press('e');
    const subject = emailIn(grace).getByRole('textbox', { name: 'Subject' });
    await subject.fill('From Grace');
    // Grace's editor is closed in another tab, and Ada saves first.
    await emailIn(ada).getByText('Grace is editing this draft').waitFor();
    await grace.session.request('POST', `/projects/${projectId}/drafts/${id}/close-editor`, {});
    await ada.session.request('POST', `/projects/${projectId}/drafts/${id}/edit`, { subject: 'From Ada' });

    await emailIn(grace).getByText('This draft changed while you were editing').waitFor();
    const difference = emailIn(grace).getByRole('group', { name: /^Subject: your text compared/ });
    await difference.locator('del').getByText('Ada').waitFor();
    await difference.locator('ins').getByText('Grace').waitFor();
    expect(await subject.inputValue()).toBe('From Grace');
    await emailIn(grace).getByRole('button', { name: 'Overwrite', exact: true }).click();
    await emailIn(grace).getByRole('heading', { level: 2, name: 'From Grace' }).waitFor();
    await emailIn(ada).getByRole('heading', { level: 2, name: 'From Grace' }).waitFor();
    await emailIn(ada).getByText('Grace edited this').waitFor();
  });

  test('keeps typed text readable and copyable after the draft ends', async () => {
    const [, email] = (await emailsIn(ada.session, projectId)).emails;
    const draft = `/projects/${projectId}/drafts/${email?.id}`;
    const opened = grace.page.waitForResponse(/open-editor$/);
    await grace.page.goto(`${installation.url}/p/${projectId}/drafts/${email?.id}?tab=edit`);
    await grace.page.getByRole('textbox', { name: 'Subject' }).fill('Words of Grace');
    await opened;
    await grace.session.request('POST', `${draft}/close-editor`, {});
    await ada.session.request('POST', `${draft}/skip`, {});
    const kept = grace.page.getByRole('status').filter({ hasText: 'cannot be saved' });
    await kept.getByText('Words of Grace').waitFor();
    await kept.getByRole('button', { name: 'Discard' }).click();
    await kept.waitFor({ state: 'detached' });
  });

  test('shows a pause within a minute on a page that is only open', async () => {
    // A separate browser context: the clock is installed for all pages of one, and for the frames of emails, which allow no scripts.
    const { context, page, pageErrors } = await newPerson(browser);
    onTestFinished(() => context.close());
    await context.addCookies(await grace.page.context().cookies());
    await page.clock.install();
    await page.goto(`${installation.url}/p/${projectId}/rules`);
    await page.getByRole('heading', { level: 1, name: 'Rules' }).waitFor();
    await ada.session.request('POST', `/projects/${projectId}/pause`, {});
    await page.clock.fastForward(60_000);
    await page.getByText('Sending is paused').waitFor();
    expect([...ada.pageErrors, ...pageErrors]).toEqual([]);
  });

  test("warns before a template overwrites another member's save, and keeps the typed text", async () => {
    const { page } = grace;
    const path = `/projects/${projectId}/templates/welcome`;
    type TemplateReply = { data: { unpublished: { subject: string; saved_at: string } | null } };
    const saved = (): Promise<TemplateReply> => ada.session.request<TemplateReply>('GET', path);
    await page.goto(`${installation.url}/p/${projectId}/templates/welcome`);
    const subject = page.getByLabel('Subject', { exact: true });
    const mine = `From Grace, ${randomUUID()}`;
    await subject.fill(mine);
    const words = { format: 'markdown', subject: 'From Ada', preheader: '', body: 'Hello there.' };
    const seen = (await saved()).data.unpublished?.saved_at ?? null;
    await ada.session.request('PUT', `${path}/unpublished`, { source: words, seen });
    await page.getByRole('button', { name: 'Save without publishing' }).first().click();
    await page.getByText('This template changed while you were editing').waitFor();
    expect(await subject.inputValue()).toBe(mine);
    expect((await saved()).data.unpublished?.subject).toBe('From Ada');
    await page.getByRole('button', { name: 'Overwrite' }).first().click();
    await page.getByText('Saved, not published').waitFor();
    expect((await saved()).data.unpublished?.subject).toBe(mine);
    expect(grace.pageErrors).toEqual([]);
  });
});
