import type { Page } from 'playwright-core';
import type { Installation } from './installation.ts';

/** The user's actions: a click, a filled field, or a pasted text is one action. */
export type Actions = {
  log: string[];
  open(url: string): Promise<void>;
  fill(label: string, text: string): Promise<void>;
  click(role: 'button' | 'link', name: string | RegExp): Promise<void>;
  paste(text: string): Promise<void>;
};

function actionsOn(page: Page, installation: Pick<Installation, 'shell'>): Actions {
  const log: string[] = [];
  return {
    log,
    async open(url) {
      log.push(`open ${new URL(url).pathname}`);
      await page.goto(url);
    },
    async fill(label, text) {
      log.push(`fill ${label}`);
      await page.getByLabel(label).first().fill(text);
    },
    async click(role, name) {
      log.push(`click ${String(name)}`);
      await page.getByRole(role, { name }).first().click();
    },
    async paste(text) {
      log.push('paste a command');
      await installation.shell(text);
    },
  };
}

export const OWNER = { email: 'ada@example.com', password: 'correct horse battery staple' };

/** Goes from the printed setup link to a project with its API key, as a new user would. */
export async function createAccount(
  page: Page,
  installation: Pick<Installation, 'setupLink' | 'shell'>,
): Promise<Actions> {
  const actions = actionsOn(page, installation);
  await actions.open(installation.setupLink);
  await actions.fill('Your email', OWNER.email);
  await actions.fill('Password', OWNER.password);
  await actions.fill('Project', 'Acme');
  await actions.click('button', 'Set up');
  await page
    .getByText(/^curl /)
    .first()
    .waitFor();
  return actions;
}

/** Creates the account, and sends the first event with the command of the page. */
export async function setUp(
  page: Page,
  installation: Pick<Installation, 'setupLink' | 'shell'>,
): Promise<Actions> {
  const actions = await createAccount(page, installation);
  await actions.paste(
    await page
      .getByText(/^curl /)
      .first()
      .innerText(),
  );
  return actions;
}

/** Approves the first draft on the page that created the account. */
export async function approveFirstDraft(page: Page, actions: Actions): Promise<void> {
  await actions.click('button', 'Approve');
  await page.getByText('Approved. The email is sent when the time to undo has passed.').waitFor();
}

/** Waits for the first email on the page that created the account. */
export async function seeFirstEmail(page: Page): Promise<void> {
  await page.getByText(/^Captured in the test inbox: “Welcome to Acme/).waitFor();
  const email = page.frameLocator('iframe[title^="Email to "]');
  await email.getByText('Your Acme account is ready').waitFor();
}

/** Returns a time zone in which it is this hour now. A project gets the time zone of the browser that set it up. */
export function zoneWhereItIs(hour: number): string {
  const ahead = (hour - new Date().getUTCHours() + 24) % 24;
  const offset = ahead > 14 ? ahead - 24 : ahead;
  // The names of these zones count westward.
  return offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}
