import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { approveFirstDraft, createAccount, seeFirstEmail, setUp, zoneWhereItIs } from '../kit/first-email.ts';
import { emptyInstallation, type Installation, newInstallation } from '../kit/installation.ts';
import { ownerInBrowser, type OwnerInBrowser } from '../kit/owner-in-browser.ts';

/** The set-up link, four actions for the account, the first event, and the approval. */
const ACTIONS_MAX = 7;

describe.skipIf(!hasBrowser)('first email in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  test.each([
    ['by day', 10],
    ['by night', 23],
  ])(
    `reaches the first email from an empty directory in ${ACTIONS_MAX} actions, without leaving the page, %s`,
    async (_, hour) => {
      const installation = await emptyInstallation();
      onTestFinished(() => installation.remove());
      const { page, pageErrors } = await newPerson(browser, { timeZone: zoneWhereItIs(hour) });
      const actions = await setUp(page, installation);
      await approveFirstDraft(page, actions);
      await seeFirstEmail(page);
      process.stdout.write(`${hour}:00: ${actions.log.length} actions: ${actions.log.join(', ')}\n`);
      expect(actions.log.length).toBeLessThanOrEqual(ACTIONS_MAX);
      expect(new URL(page.url()).pathname).toBe('/setup');
      expect(pageErrors).toEqual([]);
    },
  );

  test('a test event starts the same way without a shell, and an approval can be undone', async () => {
    const installation = await newInstallation();
    onTestFinished(() => installation.remove());
    const { page, pageErrors } = await newPerson(browser, { timeZone: zoneWhereItIs(23) });
    const actions = await createAccount(page, installation);
    await page.getByText('Waiting for the first event.').waitFor();
    await actions.click('button', 'Send a test event');
    await page.getByText('Received “user_signed_up”').waitFor();
    await page.frameLocator('iframe[title^="Draft to "]').getByText('Your Acme account is ready').waitFor();
    await actions.click('button', 'Approve');
    await page.getByRole('button', { name: /^Undo \(\d+ s\)$/ }).click();
    await approveFirstDraft(page, actions);
    await seeFirstEmail(page);
    expect(new URL(page.url()).pathname).toBe('/setup');

    expect(await violationsOf(page)).toEqual([]);

    // The key is not lost without a word.
    const key = await page.getByLabel('line for an .env file', { exact: true }).innerText();
    await page.getByRole('link', { name: 'Open dashboard' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Leave without the API key?' });
    await dialog.getByText(key.replace('BECKON_API_KEY=', '')).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/setup');
    await page.getByLabel('I stored the key where my server reads it').check();
    await page.getByRole('link', { name: 'Open dashboard' }).first().click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    expect(pageErrors).toEqual([]);
  });
});

/** How this machine runs the sample of a language. One that is not installed is skipped, and the output says so. */
const RUNNERS: Record<string, { command: string; program: (text: string) => string }> = {
  curl: { command: 'curl', program: (text) => text },
  TypeScript: {
    command: 'node',
    program: (text) => `cd ${clientFolder()} && node --input-type=module -e ${quoted(text)}`,
  },
  Python: { command: 'python3', program: (text) => `python3 -c ${quoted(text)}` },
  Go: { command: 'go', program: (text) => inFile(text, 'sample.go', 'go run') },
  Ruby: { command: 'ruby', program: (text) => `ruby -e ${quoted(text)}` },
  PHP: { command: 'php', program: (text) => inFile(text, 'sample.php', 'php') },
};

describe.skipIf(!hasBrowser)('samples and test events in Chromium', () => {
  let owner: OwnerInBrowser;
  let page: Page;
  let installed: Set<string>;
  beforeAll(async () => {
    owner = await ownerInBrowser();
    ({ page } = owner);
    installed = new Set();
    for (const { command } of Object.values(RUNNERS))
      if (await isInstalled(owner.installation, command)) installed.add(command);
  }, 120_000);
  afterAll(() => owner.close());

  const open = (screen: string) => page.goto(`${owner.url}/p/${owner.projectId}/${screen}`);
  const countOf = async (name: string): Promise<number> => {
    type Listed = { data: { name: string; count: number }[] };
    const { data } = await owner.session.request<Listed>('GET', `${owner.project}/events`);
    return data.find((event) => event.name === name)?.count ?? 0;
  };

  test('an empty list sends a test event, and shows it', async () => {
    await open('users');
    await page.getByText('No users yet').waitFor();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('link', { name: /^test_user_/ }).waitFor();
    await open('events');
    await page.getByRole('row', { name: /user_signed_up/ }).waitFor();
    await open('test-inbox');
    await page.getByText('Your first draft is waiting').waitFor();
    await open('audit');
    await page.getByText('Event: send test').first().waitFor();
  });

  test('a sandbox accepts a test event of its own', async () => {
    await owner.session.request('PATCH', `${owner.project}/settings`, { settings: { sandbox: 'on' } });
    type Listed = { data: { id: number; sandbox_of: number | null }[] };
    const { data } = await owner.session.request<Listed>('GET', '/projects');
    const sandbox = data.find(({ sandbox_of: of }) => of === owner.projectId);
    await page.goto(`${owner.url}/p/${sandbox?.id}/events`);
    await page.getByText('No events yet').waitFor();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('row', { name: /user_signed_up/ }).waitFor();
  });

  test.for(Object.keys(RUNNERS))(
    'the sample in %s is accepted, and the language is kept',
    async (language, { skip }) => {
      const { command, program } = RUNNERS[language] as (typeof RUNNERS)[string];
      skip(!installed.has(command), `${language} is not installed here`);
      await open('keys');
      await page.getByRole('button', { name: 'Create key' }).first().click();
      await page.getByLabel('Label').fill(language);
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your new API key' });
      await dialog.getByText(language, { exact: true }).click();
      const before = await countOf('user_signed_up');
      const output = await owner.installation.shell(
        program(await dialog.getByLabel('first call', { exact: true }).innerText()),
      );
      if (language !== 'TypeScript') expect(output.match(/"accepted":true/g)).toHaveLength(2);
      await expect.poll(() => countOf('user_signed_up')).toBe(before + 1);
      await page.reload();
      await page.getByRole('button', { name: 'Create key' }).first().click();
      await page.getByLabel('Label').fill(`${language} again`);
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      expect(await dialog.getByRole('radio', { name: language }).isChecked()).toBe(true);
    },
  );
});

async function isInstalled(here: Installation, command: string): Promise<boolean> {
  return (await here.shell(`command -v ${command} || true`)).trim() !== '';
}

/** The folder in which the client of this repository is installed. */
function clientFolder(): string {
  return new URL('../../', import.meta.url).pathname;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function inFile(text: string, name: string, run: string): string {
  return `folder=$(mktemp -d) && printf '%s' ${quoted(text)} > "$folder/${name}" && ${run} "$folder/${name}"`;
}
