import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RuleDetails } from '@beckon/contract/dashboard';
import { hasBrowser, newPerson, violationsOf } from '../kit/browser.ts';
import { type OwnerInBrowser, ownerInBrowser } from '../kit/owner-in-browser.ts';
import { settled } from '../kit/walk.ts';

const email = (subject: string): object => ({ draft: { subject, body: 'Hello.' } });
const OVER = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Each attempt presses a key, and a busy machine needs a moment for it. */
const WITHIN = { timeout: 30_000, interval: 50 };

describe.skipIf(!hasBrowser)('flow of a rule in Chromium', () => {
  let owner: OwnerInBrowser;
  let page: Page;
  beforeAll(async () => {
    owner = await ownerInBrowser();
    ({ page } = owner);
  }, 120_000);
  afterAll(() => owner.close());

  async function createRule(name: string, steps: object[], more: object = {}): Promise<RuleDetails> {
    const document = { name, when: { event: 'report_exported' }, steps, ...more };
    const { data } = await owner.session.request<{ data: RuleDetails }>('POST', `${owner.project}/rules`, {
      document,
    });
    return data;
  }
  const savedSteps = async (id: string): Promise<unknown> =>
    (await owner.session.request<{ data: RuleDetails }>('GET', `${owner.project}/rules/${id}`)).data
      .definition['steps'];
  const flowIn = (where: Page): Locator => where.getByRole('list', { name: 'Flow of the rule' });
  async function open(id: string, where = page): Promise<void> {
    await where.goto(`${owner.url}/p/${owner.projectId}/rules/${id}`);
    await flowIn(where).waitFor();
  }
  const node = (path: string, where = page): Locator => where.locator(`[data-path="${path}"]`);
  const isFocused = (what: Locator): Promise<void> => what.and(page.locator(':focus')).waitFor();
  /** Presses a key until the element has the focus. The focus may follow a key after a moment. */
  const pressUntilFocused = (key: string, what: Locator): Promise<void> =>
    vi.waitFor(async () => {
      await page.keyboard.press(key);
      await what.and(page.locator(':focus')).waitFor({ timeout: 500 });
    }, WITHIN);
  /** Chooses an item of the open menu with the arrow keys. */
  async function choose(name: string): Promise<void> {
    const item = page.getByRole('menuitem', { name, exact: true });
    await item.waitFor();
    await pressUntilFocused('ArrowDown', item);
    await page.keyboard.press('Enter');
  }

  test('shows no nodes until the words of a saved rule are loaded', async () => {
    const { id } = await createRule('With words', [email('First')]);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    for (const request of ['**/flow?*', '**/rules/check'])
      await page.route(request, async (route) => {
        await released;
        await route.continue();
      });
    await page.goto(`${owner.url}/p/${owner.projectId}/rules/${id}`);
    await page.getByText('Passed and left').waitFor();
    expect(await flowIn(page).count()).toBe(0);
    release();
    await flowIn(page).getByText('When report_exported happens').waitFor();
    expect(await page.getByText('Choose a trigger').count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('builds, moves and deletes a branch by keyboard alone, and keeps the focus on a node', async () => {
    const { id } = await createRule('By keyboard', [email('First')]);
    await open(id);
    for (const path of ['when', 'only_if', 'steps.0']) {
      await page.keyboard.press('j');
      await isFocused(node(path));
    }
    await page.keyboard.press('n');
    await choose('Branch');
    const panel = page.getByRole('dialog');
    const value = panel.getByRole('combobox', { name: 'Trait: value', exact: true });
    await value.waitFor();
    await pressUntilFocused('Tab', value);
    await page.keyboard.type('pro');
    // Escape in the field would close its suggestions.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await isFocused(node('steps.1'));
    await flowIn(page).getByText('If plan is pro').waitFor();

    // After the node and its menu comes the first branch.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await isFocused(page.getByRole('button', { name: 'Add step at the end of “If true”' }));
    await page.keyboard.press('Enter');
    await choose('Wait');
    await panel.getByLabel('For', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await isFocused(node('steps.1.then.0'));

    await page.keyboard.press('k');
    await isFocused(node('steps.1'));
    await page.keyboard.press('Alt+ArrowUp');
    await isFocused(node('steps.0'));
    await page.getByText('If plan is pro moved up').waitFor({ state: 'attached' });
    await node('steps.0.then.0').waitFor();
    await page.keyboard.press('Alt+ArrowDown');
    await page.keyboard.press('Alt+ArrowUp');
    await isFocused(node('steps.0'));

    await page.keyboard.press('Delete');
    await node('steps.0.then.0').waitFor({ state: 'detached' });
    await isFocused(node('steps.0'));
    await page.getByText('If plan is pro deleted, with 1 step in it').first().waitFor();
    await page.keyboard.press('u');
    await isFocused(node('steps.0'));
    await node('steps.0.then.0').waitFor();

    await page.keyboard.press('ControlOrMeta+s');
    const saving = page.getByRole('dialog', { name: 'Save this rule?' });
    await isFocused(saving.getByRole('button', { name: 'Save', exact: true }));
    await page.keyboard.press('Enter');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await savedSteps(id)).toMatchObject([
      { branch: { if: { trait: 'plan', equals: 'pro' } }, then: [{ wait: '3d' }], else: [] },
      { draft: { subject: 'First' } },
    ]);
    expect(owner.pageErrors).toEqual([]);
  });

  test('reads as a list of lists', async () => {
    const { id } = await createRule(
      'With a branch',
      [
        email('First'),
        { wait: '3d' },
        {
          branch: { if: { trait: 'plan', equals: 'pro' } },
          then: [email('For pro')],
          else: [{ end: true }],
        },
      ],
      { only_if: { trait: 'plan', is_set: true }, goal: { event: 'paid', at_least: 1 } },
    );
    await open(id);
    await node('steps.0').getByText('0 passed').waitFor();
    expect(await flowIn(page).ariaSnapshot()).toMatchInlineSnapshot(`
      "- list "Flow of the rule":
        - listitem:
          - button "Trigger When report_exported happens 0 enrolled"
        - listitem:
          - button "Condition Only if plan is set"
        - listitem:
          - button "Add step before Email “First”"
          - button "Email First 0 passed"
          - button "Actions for Email “First”"
        - listitem:
          - button "Add step before Wait 3 days"
          - button "Wait 3 days 0 passed"
          - button "Actions for Wait 3 days"
        - listitem:
          - button "Add step before If plan is pro"
          - button "Branch If plan is pro 0 passed"
          - button "Actions for If plan is pro"
          - text: If true
          - list "If true":
            - listitem:
              - button "Add step before Email “For pro”"
              - button "Email For pro 0 passed"
              - button "Actions for Email “For pro”"
          - button "Add step at the end of “If true”"
          - text: If false
          - list "If false":
            - listitem:
              - button "Add step before End"
              - button "End The run ends here 0 completed"
              - button "Actions for End"
        - listitem:
          - button "Add step at the end"
          - button "Goal The user has done paid 0 of 0 reached it""
    `);
  });

  test('edits a node at the side, with its errors, and adds steps between nodes', async () => {
    const { id } = await createRule('At the side', [email('First')]);
    await open(id);
    await page.getByRole('button', { name: 'Add step before Email “First”' }).click();
    await page.getByRole('menuitem', { name: 'Email written here' }).click();
    const panel = page.getByRole('dialog');
    await panel.getByLabel('Subject').fill('Before the first');
    await panel.getByRole('button', { name: 'Done' }).click();
    await node('steps.0').getByText('Needs attention').waitFor();
    await page.getByRole('button', { name: 'Step 1: write the text of the email' }).click();
    await panel.getByText('Write the text of the email').waitFor();
    await page.keyboard.press('Escape');
    await isFocused(node('steps.0'));

    await page.getByRole('button', { name: 'Actions for Email “Before the first”' }).click();
    await page.getByRole('menuitem', { name: 'Move down' }).click();
    await isFocused(node('steps.1'));
    await page.getByRole('button', { name: 'Actions for Email “Before the first”' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await isFocused(node('steps.0'));

    await page.getByText('JSON', { exact: true }).click();
    await page.getByText('report_exported').first().waitFor();
    await page.getByText('Form', { exact: true }).click();
    await page.getByLabel('Subject').waitFor();
  });

  test('keeps what was typed when another member saved first', async () => {
    const { id } = await createRule('Two editors', [email('First')]);
    const other = await page.context().newPage();
    await Promise.all([open(id), open(id, other)]);
    for (const [where, subject] of [
      [page, 'Mine'],
      [other, 'Theirs'],
    ] as const) {
      await node('steps.0', where).click();
      await where.getByRole('dialog').getByLabel('Subject').fill(subject);
      await where.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
      await node('steps.0', where).getByText(subject).waitFor();
    }
    const save = async (where: Page): Promise<Locator> => {
      await where.getByRole('button', { name: 'Save rule…' }).click();
      const dialog = where.getByRole('dialog', { name: 'Save this rule?' });
      await dialog.getByRole('button', { name: 'Save', exact: true }).click();
      return dialog;
    };
    await (await save(other)).waitFor({ state: 'hidden' });
    await other.close();
    const dialog = await save(page);
    await dialog.getByText(/was saved by another member as version 2/).waitFor();
    await dialog.getByText('Your changes are still here').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Version 2 was saved while you were editing').waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('tab', { name: 'Versions', selected: true }).waitFor();
    await page.getByRole('tab', { name: 'Rule', exact: true }).click();
    await node('steps.0').getByText('Mine').waitFor();
    expect(await savedSteps(id)).toMatchObject([{ draft: { subject: 'Theirs' } }]);
  });

  test('lays the counts of a backtest of the edited rule over the flow', async () => {
    for (const user of ['ada', 'bob']) {
      await owner.post('users', {
        external_user_id: user,
        email: `${user}@example.com`,
        traits: { name: user },
      });
      expect(await owner.post('events', { external_user_id: user, name: 'report_exported' })).toBe(202);
      await vi.waitFor(() => owner.session.request('GET', `${owner.project}/users/${user}`), {
        timeout: 20_000,
      });
    }
    const { id } = await createRule('Laid over', [email('First'), { wait: '3d' }]);
    await open(id);
    await page.getByRole('switch', { name: 'Backtest of 30 days' }).check();
    await node('steps.0').getByText('2 users').waitFor();
    await node('steps.0').getByText('2 emails').waitFor();
    await page.getByRole('switch', { name: 'Backtest of 30 days' }).uncheck();
    await node('steps.0').getByText('0 passed').waitFor();
  });

  test('enables a rule after a backtest, with its first emails, and in the chosen mode', async () => {
    const { id } = await createRule('With proof', [
      { draft: { subject: 'Hi {{ user.name }}', body: 'Your **report** is ready.' } },
    ]);
    await open(id);
    await page.getByRole('button', { name: 'Enable…' }).click();
    const sheet = page.getByRole('dialog', { name: 'Enable With proof' });
    await sheet.getByText('Hi ada').waitFor();
    await sheet.frameLocator('iframe').getByText('report').waitFor();
    await sheet.getByRole('tab', { name: '2. bob' }).click();
    await sheet.getByText('Hi bob').waitFor();
    await sheet.getByText('None of these users would have been held out').waitFor();
    await sheet.getByText('No audience starts this rule.').waitFor();
    expect(await sheet.getByRole('radio', { name: 'Autopilot' }).isChecked()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await sheet.getByRole('radio', { name: 'Drafts only' }).check();
    await sheet.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByRole('button', { name: 'Disable…' }).waitFor();
    await page.getByText('Drafts only', { exact: true }).first().waitFor();

    const rules = page.getByRole('table', { name: 'Rules' });
    await page.goto(`${owner.url}/p/${owner.projectId}/rules?filter=state:disabled`);
    await rules.getByRole('link', { name: 'Laid over' }).waitFor();
    expect(await rules.getByRole('link', { name: 'With proof' }).count()).toBe(0);
    await page.goto(`${owner.url}/p/${owner.projectId}/rules?filter=state:enabled`);
    await rules.getByRole('link', { name: 'With proof' }).waitFor();
    expect(await rules.getByRole('link', { name: 'Laid over' }).count()).toBe(0);
  });

  test.each(['light', 'dark'] as const)(
    'shows 50 steps on a phone without horizontal scrolling, and without accessibility violations, in %s',
    async (theme) => {
      const branch = {
        branch: { if: { trait: 'plan', equals: 'pro' } },
        then: [
          email('For pro'),
          {
            wait_for: { event: 'paid', within: '7d' },
            then: [
              { wait: '1d' },
              email('A rather long subject that does not fit on a single line of a phone'),
            ],
            else: [{ end: true }],
          },
        ],
        else: [email('For others'), { wait: '2d' }],
      };
      const rest = Array.from({ length: 21 }, (_, at) => [{ wait: '1d' }, email(`Email ${at}`)]).flat();
      const { id } = await createRule(`Fifty in ${theme}`, [branch, ...rest]);
      const phone = await newPerson(page.context().browser() ?? expect.unreachable(), {
        width: 390,
        height: 844,
        dark: theme === 'dark',
      });
      await phone.context.addCookies(await page.context().cookies());
      await open(id, phone.page);
      await node('steps.42', phone.page).waitFor();
      expect(await phone.page.locator('[data-path^="steps."]').count()).toBe(50);
      expect(await phone.page.evaluate<number>(OVER)).toBeLessThanOrEqual(0);
      expect(await violationsOf(phone.page)).toEqual([]);
      await node('steps.0.then.1.then.1', phone.page).click();
      const sheet = phone.page.getByRole('dialog');
      await sheet.getByLabel('Subject').waitFor();
      await settled(phone.page);
      expect(await violationsOf(phone.page)).toEqual([]);
      expect(await phone.page.evaluate<number>(OVER)).toBeLessThanOrEqual(0);
      await sheet.getByRole('button', { name: 'Done' }).click();
      await sheet.waitFor({ state: 'hidden' });
      expect(phone.pageErrors).toEqual([]);
      await phone.context.close();
    },
  );
});
