import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { codeOf } from '../../packages/server/testing/factories/team.ts';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { OWNER } from '../kit/first-email.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { type CustomerServer, serverWith } from '../kit/public-api.ts';
import { type Session, sessionOf, signedIn } from '../kit/session.ts';

const STEP_MS = 30_000;
const GRACE = { email: 'grace@example.com', password: 'battery staple correct horse' };

describe.skipIf(!hasBrowser)('audiences, suppressions and team in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session & { projectId: number };
  let post: CustomerServer;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation({ PROJECTS_PER_ORGANIZATION: '1' });
    const person = await newPerson(browser);
    ({ page, pageErrors } = person);
    session = await signedIn(person.context, installation);
    type Made = { data: { secret: string } };
    const { data } = await session.request<Made>('POST', `${project()}/keys`, { label: 'Server' });
    post = serverWith(data.secret, installation);
  }, 120_000);
  afterEach(() => expect(pageErrors).toEqual([]));
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  const project = () => `/projects/${session.projectId}`;
  const open = (screen: string, of = page) => of.goto(`${installation.url}/p/${session.projectId}/${screen}`);
  const row = (name: string | RegExp) => page.getByRole('row', { name });
  const user = (id: string, plan: string): Promise<number> =>
    post('users', { external_user_id: id, email: `${id}@example.com`, traits: { name: id, plan } });

  test('builds an audience in words, with a live count of its members', async () => {
    for (const [id, plan] of [
      ['ada', 'trial'],
      ['linus', 'trial'],
      ['edsger', 'pro'],
    ] as const)
      expect(await user(id, plan)).toBe(202);
    await expect
      .poll(() => session.request('GET', `${project()}/users/edsger`).catch(() => null), { timeout: 20_000 })
      .not.toBe(null);

    await open('audiences');
    await page.getByRole('link', { name: 'New audience' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Trial users');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('2 users now').waitFor();
    const value = page.getByRole('combobox', { name: 'Trait: value', exact: true });
    await value.fill('pro');
    await preview.getByText('1 user now').waitFor();
    await preview.getByRole('link', { name: 'edsger' }).waitFor();
    await page.getByRole('combobox', { name: 'Is true or is not true' }).selectOption('not');
    await preview.getByText('2 users now').waitFor();
    await page.getByRole('button', { name: 'Create audience' }).click();
    await page.getByRole('heading', { level: 1, name: 'Trial users' }).waitFor();
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Members' }).click();
    await page.getByRole('link', { name: 'linus' }).waitFor();
  });

  test("keeps text typed into an audience across tabs, and does not save it over another member's change", async () => {
    await page.getByRole('tab', { name: 'Definition' }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('On no pro plan');
    await page.getByRole('tab', { name: 'Test a user' }).click();
    await name.waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Definition' }).click();
    await name.waitFor();
    expect(await name.inputValue()).toBe('On no pro plan');

    const audience = `${project()}/audiences/${new URL(page.url()).pathname.split('/').at(-1)}`;
    await session.request('PATCH', audience, { name: 'Not on pro' });
    await page.reload();
    await page.getByText('This audience changed while you were editing').waitFor();
    expect(await name.inputValue()).toBe('On no pro plan');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('Another member saved first').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await name.inputValue()).toBe('Not on pro');
  });

  test('suppresses addresses by hand and from a list, and lifts a suppression after its address and a reason are typed', async () => {
    await open('suppressions');
    await page.getByText('No suppressions yet').waitFor();
    await page.getByRole('button', { name: 'Add suppression' }).click();
    await page.getByLabel('Email address or user id').fill('linus@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Add suppression' }).click();
    await row(/linus@example\.com/).waitFor();

    await page.getByRole('button', { name: 'Lists' }).click();
    await page.getByRole('menuitem', { name: 'Import suppressions' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import suppressions' });
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      dialog.getByLabel('File', { exact: true }).click(),
    ]);
    const list = 'email\nedsger@example.com\nbarbara@example.com\nnot an address\n';
    await chooser.setFiles({ name: 'gone.csv', mimeType: 'text/csv', buffer: Buffer.from(list) });
    await dialog.getByRole('button', { name: 'Check file' }).click();
    await dialog.getByText(/^2 new/).waitFor();
    await dialog.getByText('1 invalid row').waitFor();
    await dialog.getByRole('button', { name: 'Suppress 2' }).click();
    await dialog.getByText('Done', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await row(/edsger@example\.com/).waitFor();

    await page.getByRole('button', { name: 'linus@example.com' }).click();
    await page.getByRole('button', { name: 'Remove suppression' }).click();
    const lifting = page.getByRole('dialog', { name: 'Remove suppression' });
    await lifting.getByLabel('Type linus@example.com to confirm').fill('linus@example.com');
    await lifting.getByRole('combobox', { name: 'Reason' }).click();
    await page.getByRole('option', { name: 'The user asked to receive email again' }).click();
    await lifting.getByRole('button', { name: 'Remove suppression' }).click();
    await row(/linus@example\.com/).waitFor({ state: 'detached' });
  });

  test('shows in the form for a new project that the organization has reached its limit, and who can raise it', async () => {
    await page.goto(`${installation.url}/projects`);
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('Name').fill('One too many');
    await dialog.getByRole('button', { name: 'Create project' }).click();
    await dialog.getByText(/The maximum is 1: ask the operator to raise PROJECTS_PER_ORGANIZATION/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  test('suppressions screen › shows a row of an erased user, and lifts it for a member who types the address', async () => {
    const email = 'barbara@example.com';
    expect(await user('barbara', 'pro')).toBe(202);
    await expect
      .poll(() => session.request('GET', `${project()}/users/barbara`).catch(() => null), { timeout: 20_000 })
      .not.toBe(null);
    await session.request('POST', `${project()}/users/barbara/erase`, { confirm: 'barbara' });
    await open('suppressions?filter=erased:yes');
    await row(/Erased user/).waitFor();
    expect(await page.getByText(email).count()).toBe(0);

    await open(`suppressions?tab=check&check=${email}`);
    await page.getByText('Suppressed: address of an erased user.').waitFor();

    await open('suppressions?filter=erased:yes');
    await page.getByRole('button', { name: 'Erased user' }).click();
    await page.getByRole('button', { name: 'Remove suppression' }).click();
    const lifting = page.getByRole('dialog', { name: 'Remove suppression' });
    const confirm = lifting.getByLabel('Type the address to confirm');
    await confirm.fill('edsger@example.com');
    await lifting.getByRole('combobox', { name: 'Reason' }).click();
    await page.getByRole('option').first().click();
    await lifting.getByRole('button', { name: 'Remove suppression' }).click();
    await lifting.getByText('This entry belongs to another user.').waitFor();
    await confirm.fill(email);
    await lifting.getByRole('button', { name: 'Remove suppression' }).click();
    await row(/Erased user/).waitFor({ state: 'detached' });
  });

  describe('an invited member', () => {
    let grace: { context: BrowserContext; page: Page; pageErrors: string[] };
    beforeAll(async () => {
      grace = await newPerson(browser);
    });
    afterEach(() => expect(grace.pageErrors).toEqual([]));

    test('joins by a link, and has the permissions of the current role immediately', async () => {
      expect(await post('events', { external_user_id: 'ada', name: 'user_signed_up' })).toBe(202);
      await open('settings/team');
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Invite team member' });
      await dialog.getByLabel('Email').fill(GRACE.email);
      await dialog.getByRole('radio', { name: 'reviewer' }).check();
      await dialog.getByRole('button', { name: 'Invite' }).click();
      const link = await dialog.getByLabel('link', { exact: true }).innerText();
      await dialog.getByRole('button', { name: 'Done' }).click();

      const theirs = grace.page;
      await theirs.goto(link);
      await theirs.getByText(/is invited to/).waitFor();
      await theirs.getByLabel('Your name').fill('Grace');
      await theirs.getByLabel('Password').first().fill(GRACE.password);
      await theirs.getByRole('button', { name: 'Join' }).click();
      await theirs
        .getByRole('link', { name: /^Review/ })
        .first()
        .click();
      const approve = theirs.getByRole('button', { name: 'Approve', exact: true });
      await approve.waitFor();
      const [draft] = (
        await session.request<{ data: { id: string }[] }>('GET', `${project()}/drafts?view=all&limit=1`)
      ).data;

      await open('settings/team');
      await page.getByRole('combobox', { name: 'Role of Grace' }).click();
      await page.getByRole('option', { name: 'viewer', exact: true }).click();
      await page.getByText('Grace is now viewer').waitFor();
      // The page was not reloaded, so its button works until the server refuses the action.
      await approve.click();
      await theirs.getByText('This needs the role reviewer').first().waitFor();
      await theirs.getByRole('button', { name: 'Approve', exact: true, disabled: true }).waitFor();
      const theirSession = sessionOf(grace.context, installation);
      await expect(
        theirSession.request('POST', `${project()}/drafts/${draft?.id}/approve`, {}),
      ).rejects.toThrow('answered 403');
    });

    test('signs in with the code of an authenticator app, or with a backup code', async () => {
      const theirs = grace.page;
      await openProfile(theirs);
      await theirs.getByRole('button', { name: 'Set up authenticator app' }).click();
      await theirs.getByRole('textbox', { name: 'Password', exact: true }).fill(GRACE.password);
      await theirs.getByRole('button', { name: 'Next' }).click();
      const secret = await theirs.getByLabel('key', { exact: true }).innerText();
      const uri = `otpauth://totp/Beckon?secret=${secret}`;
      await theirs.getByLabel('Code from the app').fill(codeOf(uri));
      await theirs.getByRole('button', { name: 'Turn on' }).click();
      const codes = (await theirs.getByLabel('backup codes', { exact: true }).innerText()).split('\n');
      await theirs.getByRole('button', { name: 'I stored the codes' }).click();
      await theirs.getByText('Set up', { exact: true }).waitFor();

      await signOut(theirs);
      await signIn(theirs, GRACE);
      // The next code, which is valid already: the one before has been used.
      await theirs.getByLabel('Code', { exact: true }).fill(codeOf(uri, Date.now() + STEP_MS));
      await theirs.getByRole('button', { name: 'Sign in' }).click();
      await signOut(theirs);
      await signIn(theirs, GRACE);
      await theirs.getByRole('button', { name: 'Use a backup code' }).click();
      await theirs.getByLabel('Backup code', { exact: true }).fill(codes[0] ?? '');
      await theirs.getByRole('button', { name: 'Sign in' }).click();
      await theirs.getByRole('button', { name: 'Account of Grace' }).waitFor();
    });
  });

  test('adds a passkey, which signs in without password or code', async () => {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await openProfile(page);
    await page.getByLabel('Name of the new passkey').fill('Laptop');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();
    await signOut(page);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('button', { name: /^Account of/ }).waitFor();
    expect(await session.request('GET', '/session')).toMatchObject({
      data: { member: { email: OWNER.email } },
    });
  });
});

async function openProfile(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Profile and security' }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
}

async function signIn(page: Page, { email, password }: typeof GRACE): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').first().fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
