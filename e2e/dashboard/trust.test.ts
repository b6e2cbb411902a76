import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, newPerson } from '../kit/browser.ts';
import { DEMO_TIMEOUT_MS, type DemoInBrowser, demoInBrowser } from '../kit/demo.ts';
import { serverWith } from '../kit/public-api.ts';
import type { Session } from '../kit/session.ts';

const OMAR = 'user_1026';

describe.skipIf(!hasBrowser)('numbers, lists and users of the demo', () => {
  let owner: DemoInBrowser;
  let page: Page;
  let pageErrors: string[];
  let session: Session;
  let own: number;
  let demo: number;
  let open: DemoInBrowser['open'];
  beforeAll(async () => {
    owner = await demoInBrowser({ width: 1440, height: 900 });
    ({ page, pageErrors, session, own, demo, open } = owner);
  }, DEMO_TIMEOUT_MS);
  afterAll(() => owner.close());

  const rowsOf = (table: string): Locator =>
    page.getByRole('table', { name: table }).locator('[role="row"][data-row]');
  const filter = (): Locator => page.getByRole('combobox', { name: /^Filter/ });

  describe('filter of a list', () => {
    test('finds users by a word in their name, address or id, in any case', async () => {
      await open('users');
      await filter().fill('OMAR abe');
      await page.getByRole('link', { name: OMAR }).waitFor();
      await expect.poll(() => rowsOf('Users').count()).toBeLessThan(20);
      await filter().fill('omar.abe.26@');
      await expect.poll(() => rowsOf('Users').count()).toBe(1);
      await filter().fill('1026');
      await expect.poll(() => rowsOf('Users').count()).toBe(1);
    });

    test('keeps the rows while a term is wrong', async () => {
      await open('users?filter=omar');
      const before = await rowsOf('Users').count();
      expect(before).toBeGreaterThan(0);
      await filter().fill('omar colour:red');
      await page.getByText('"colour" at character 6 is not a key').waitFor();
      expect(await rowsOf('Users').count()).toBe(before);
      expect(await page.getByText('No users match this filter').count()).toBe(0);
    });

    test.each([
      ['emails', 'omar.abe', 'Emails'],
      ['review', 'Trial tour', null],
      ['suppressions', 'example', null],
      ['activity', 'user_1026', null],
      ['requests', 'events', null],
    ])('searches words in %s', async (screen, word, table) => {
      await open(screen);
      type Listed = { data: object[] };
      // The page also asks for counts with the same filter.
      const answer = page.waitForResponse(
        async (response) =>
          new URL(response.url()).searchParams.get('filter') === word &&
          Array.isArray(((await response.json()) as Listed).data),
      );
      await filter().first().fill(word);
      const response = await answer;
      expect(response.status()).toBe(200);
      const { data } = (await response.json()) as Listed;
      expect(data.length).toBeGreaterThan(0);
      for (const row of data) expect(JSON.stringify(row).toLowerCase()).toContain(word.toLowerCase());
      if (table !== null) await expect.poll(() => rowsOf(table).count()).toBe(data.length);
    });
  });

  describe('charts', () => {
    test('have whole numbers at equal distances, and equidistant dates', async () => {
      await open('home');
      const charts = page.getByRole('main').getByRole('group', { name: /in 30 days/ });
      await charts.first().locator('[data-part="y-labels"] text').first().waitFor();
      for (const chart of await charts.all()) {
        const values = await ticksOf(chart, 'y');
        expect(values.map(({ text }) => text)).toEqual(values.map(({ text }) => String(Number(text))));
        const numbers = values.map(({ text }) => Number(text));
        expect(new Set(differences(numbers)).size).toBe(1);
        expect(new Set(differences(values.map(({ y }) => y)).map(Math.round)).size).toBeLessThanOrEqual(2);
        const days = await ticksOf(chart, 'x');
        expect(days.length).toBeGreaterThan(3);
        for (const { text } of days) expect(text).toMatch(/^\d{1,2} [A-Z][a-z]{2,3}$/);
        const steps = differences(days.map(({ x }) => x));
        expect(Math.max(...steps) - Math.min(...steps)).toBeLessThan(2);
      }
    });

    test('name every group in full, in one line', async () => {
      await open('insights');
      const chart = page.getByRole('group', { name: /^Delivered by rule/ });
      const names = chart.locator('[data-part="y-labels"] text');
      await names.first().waitFor();
      const { data } = await session.request<{ data: { range: { groups: { name: string }[] } } }>(
        'GET',
        `/projects/${demo}/insights?by=rule&days=30`,
      );
      expect(await names.allTextContents()).toEqual(data.range.groups.slice(0, 12).map(({ name }) => name));
      const heights = await names.evaluateAll((texts) =>
        (texts as unknown as { getBoundingClientRect(): { height: number } }[]).map(
          (text) => text.getBoundingClientRect().height,
        ),
      );
      expect(Math.max(...heights)).toBeLessThan(20);
    });
  });

  describe('counts', () => {
    test('of 30 days are the same in Home and Insights', async () => {
      await open('home');
      const inHome = async (metric: string): Promise<string> =>
        page
          .getByRole('main')
          .getByRole('link', { name: new RegExp(`^${metric}: `) })
          .innerText();
      const [sent, opened] = [await inHome('Sent'), await inHome('Opened')];
      await open('insights');
      const total = (label: string): Promise<string> =>
        page.locator('dl > div').filter({ hasText: label }).first().innerText();
      expect(sent).toMatch(/^[1-9]/);
      expect(opened).toMatch(/^[1-9]/);
      expect(await total('Sent')).toMatch(new RegExp(`\\b${sent}\\b`));
      expect(await total('Opened by a human')).toMatch(new RegExp(`\\b${opened}\\b`));
    });

    test('of held drafts lead to a list of exactly these', async () => {
      await open('home');
      const need = page
        .getByRole('listitem')
        .filter({ hasText: /drafts? (is|are) held|held and need/ })
        .first();
      const count = Number(/\d+/.exec(await need.innerText())?.[0]);
      await need.getByRole('link').click();
      await page
        .getByText(new RegExp(`^${count} drafts?`))
        .first()
        .waitFor();
    });
  });

  test('count of failed emails leads to a list of exactly these', async () => {
    await open('home');
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
    const need = page.getByRole('listitem').filter({ hasText: /emails? (failed|with unknown delivery)/ });
    // How many emails of the demo fail in its last seven days depends on the hour at which it begins. It may be none.
    const titles = await need.allInnerTexts();
    const numbers = titles.flatMap((title) => title.match(/\d+(?= emails? (?:failed|with unknown))/g) ?? []);
    const count = numbers.reduce((sum, number) => sum + Number(number), 0);
    const week = new Date(Date.now() - 7 * 86_400_000).toISOString();
    if (count > 0) await need.getByRole('link').click();
    else await open(`emails?filter=${encodeURIComponent(`state:failed,unknown resent:no ended:>${week}`)}`);
    await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
    await expect.poll(() => rowsOf('Emails').count()).toBe(count);
  });

  test('time zone › is named in the frame, holds in the profile too, and changes to UTC', async () => {
    await open('emails');
    const toUtc = page.getByRole('button', { name: 'Times in Europe/Berlin. Show UTC' });
    const time = page.getByRole('table', { name: 'Emails' }).locator('time').first();
    const at = (await time.getAttribute('datetime')) ?? '';
    const clockOf = (zone: string): string =>
      new Intl.DateTimeFormat('en-GB', {
        timeZone: zone,
        weekday: 'short',
        hour: '2-digit',
        minute: '2-digit',
      })
        .format(new Date(at))
        .slice(-5);
    await time.hover();
    await page.getByRole('tooltip').getByText(clockOf('Europe/Berlin')).waitFor();
    await toUtc.click();
    await time.hover();
    await page.getByRole('tooltip').getByText(clockOf('UTC')).waitFor();
    await page.goto(`${owner.installation.url}/profile`);
    await page.getByRole('button', { name: 'Times in UTC. Show Europe/Berlin' }).click();
    await toUtc.waitFor();
  });

  describe('user page', () => {
    test('names the user, their address and their local time', async () => {
      await open(`users/${OMAR}`);
      await page.getByRole('heading', { level: 1, name: 'Omar Abe' }).waitFor();
      const main = page.getByRole('main');
      await main.getByText('omar.abe.26@pebble.example', { exact: true }).waitFor();
      await main.getByText(/Lives in America\/Sao Paulo, \d\d:\d\d there/).waitFor();
    });

    test('shows an email in one entry of its day, without editors and duplicates', async () => {
      await open(`users/${OMAR}`);
      const lines = page.locator('[aria-label^="Timeline, "] > li');
      await lines.first().waitFor();
      const texts = await lines.allInnerTexts();
      expect(texts.join('\n')).not.toMatch(/Editor|email\.opened|engine/);
      expect(texts.some((text) => /Drafted.*Sent/s.test(text))).toBe(true);
    });

    test('Explain › gives each rule one fate with one reason', async () => {
      await open(`users/${OMAR}?tab=why`);
      const rules = page.getByRole('main').locator('section[aria-label]:has(details)');
      await rules.first().waitFor();
      for (const rule of await rules.all()) {
        const text = await rule.innerText();
        const fates =
          text.match(
            /^(Off|Waiting|In progress|Sent|Eligible|Not eligible|Failed|Skipped|Canceled|Delivery unknown)$/gm,
          ) ?? [];
        expect(fates, text).toHaveLength(1);
        expect(text).not.toMatch(/Fired|Did not fire|Would fire|Would not/);
      }
    });

    test('goes back to the list on Esc', async () => {
      await open(`users/${OMAR}`);
      await page.getByRole('heading', { level: 1, name: 'Omar Abe' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    });
  });

  describe('table', () => {
    test('lets text be selected, and opens a row on a click anywhere in it', async () => {
      await open('users?filter=user:user_1026');
      const address = page.getByText('omar.abe.26@pebble.example');
      const box = await address.boundingBox();
      if (!box) throw new Error('the address has no box');
      await page.mouse.move(box.x + 2, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + 120, box.y + box.height / 2, { steps: 4 });
      await page.mouse.up();
      expect(await page.evaluate<string>('String(getSelection())')).toMatch(/^omar\.abe/);
      expect(new URL(page.url()).pathname).toBe(`/p/${demo}/users`);
      await page.getByRole('heading', { level: 1 }).click();
      await address.click();
      await page.getByRole('heading', { level: 1, name: 'Omar Abe' }).waitFor();
    });

    test('shows the exact time of a relative one', async () => {
      await open('users?filter=user:user_1026');
      await rowsOf('Users').locator('time').first().hover();
      await page
        .getByRole('tooltip')
        .getByText(/\d{4}, \d\d:\d\d:\d\d Europe\/Berlin/)
        .waitFor();
    });
  });

  describe('codes', () => {
    test('of actions and their authors are words', async () => {
      await open('settings/audit');
      await page.getByText('Team: set up').first().waitFor();
      await open('suppressions');
      const by = await rowsOf('Suppressions').allInnerTexts();
      expect(by.join('\n')).not.toMatch(/engine|reply:/);
      expect(by.join('\n')).toContain('Beckon');
    });
  });

  test('template editor › names an unknown variable, and keeps the last preview under an error', async () => {
    await open('templates/welcome');
    const subject = page.getByLabel('Subject');
    await subject.fill('Hello {{ user.nam }}');
    await page.getByRole('tab', { name: /^Checks \(/ }).click();
    await page.getByText('user.nam: did you mean user.name?').waitFor();
    await subject.fill('Hello {{ user.name');
    await page.getByText('Last preview without errors:').waitFor();
    expect(await page.getByRole('button', { name: 'Save without publishing' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('page that does not exist › has a main landmark and a way back', async () => {
    const response = await page.goto(`${owner.installation.url}/nowhere`);
    expect(response?.status()).toBe(404);
    await page.getByRole('main').getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Go to Home' }).waitFor();
    await page.goto(`${owner.installation.url}/p/${demo}/rules/nothing`);
    const main = page.getByRole('main');
    await main.getByText('No rule has the ID or name "nothing".').waitFor();
    expect(await main.getByText(/beckon rules/).count()).toBe(0);
    await main.getByRole('link', { name: 'Back to the list' }).click();
    await page.getByRole('heading', { level: 1, name: 'Rules' }).waitFor();
  });

  test('webhook form › says how to receive webhooks on this machine', async () => {
    await page.goto(`${owner.installation.url}/p/${own}/webhooks`);
    await page.getByRole('button', { name: 'Add endpoint' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('http://127.0.0.1:9000/hook');
    await dialog.getByRole('button', { name: /^Add|^Create/ }).click();
    await dialog.getByText(/beckon listen.*WEBHOOK_ALLOW_PRIVATE/).waitFor();
    await page.keyboard.press('Escape');
  });

  describe('new project', () => {
    test('has no warnings before its first event, and a legible link in an empty list', async () => {
      await page.goto(`${owner.installation.url}/p/${own}/rules`);
      await page.getByRole('link', { name: 'welcome' }).waitFor();
      expect(await page.getByText(/\d warnings?/).count()).toBe(0);
      await page.goto(`${owner.installation.url}/p/${own}/users`);
      const link = page
        .getByRole('main')
        .getByRole('link', { name: /API key/ })
        .first();
      const { color } = await link.evaluate((element) => {
        const styleOf: (of: unknown) => { color: string } = Reflect.get(globalThis, 'getComputedStyle');
        return { color: styleOf(element).color };
      });
      expect(color).toMatch(/^rgb/);
      expect(color).not.toBe('rgb(0, 0, 238)');
    });

    test('does not call a new key unused, and shows the properties of an event in Live', async () => {
      type Made = { data: { secret: string } };
      const { data } = await session.request<Made>('POST', `/projects/${own}/keys`, { label: 'Server' });
      await page.goto(`${owner.installation.url}/p/${own}/settings/api-keys`);
      await page.getByText('Requests by key').waitFor();
      expect(await page.getByText(/Unused for 14 days/).count()).toBe(0);
      const post = serverWith(data.secret, owner.installation);
      const event = { external_user_id: 'ada', name: 'report_exported', properties: { format: 'pdf' } };
      expect(await post('events', event)).toBe(202);
      await page.goto(`${owner.installation.url}/p/${own}/activity`);
      await page.getByText('report_exported · format: pdf').first().waitFor();
    });
  });

  test('Review › turns decisions off while the editor is open, and keeps the bulk actions in one row', async () => {
    await open('review');
    const reading = page.getByRole('region', { name: 'Draft' });
    const approve = reading.getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    expect(await approve.isEnabled()).toBe(true);
    await reading.getByRole('button', { name: 'Edit' }).click();
    await reading.getByLabel('Subject').waitFor();
    for (const name of ['Approve', 'Postpone', 'Skip'])
      expect(await reading.getByRole('button', { name, exact: true }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await reading.getByLabel('Subject').waitFor({ state: 'detached' });
    await page.keyboard.press('x');
    const bulk = page.getByRole('region', { name: 'Selected drafts' });
    await bulk.getByRole('button', { name: 'Skip' }).waitFor();
    const tops = await bulk
      .getByRole('button', { name: /^(Approve|Postpone|Skip)$/ })
      .evaluateAll((buttons) =>
        (buttons as unknown as { getBoundingClientRect(): { y: number } }[]).map(
          (button) => button.getBoundingClientRect().y,
        ),
      );
    expect(tops).toHaveLength(3);
    expect(new Set(tops).size).toBe(1);
    await page.keyboard.press('Escape');
  });

  describe('viewer', () => {
    let viewer: { context: BrowserContext; page: Page; pageErrors: string[] };
    test('gets the link of the invitation from its sender if no relay is set', async () => {
      await open('settings/team');
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Invite team member' });
      await dialog.getByLabel('Email').fill('grace@example.com');
      await dialog.getByRole('radio', { name: 'viewer', exact: true }).check();
      await dialog.getByRole('button', { name: 'Invite' }).click();
      await dialog
        .getByText(
          'No relay is set, so the email is only in the test inbox. Give this link to grace@example.com yourself.',
        )
        .waitFor();
      const link = await dialog.getByLabel('link', { exact: true }).innerText();
      viewer = await newPerson(owner.browser);
      await viewer.page.goto(link);
      await viewer.page.getByLabel('Your name').fill('Grace');
      const password = viewer.page.getByLabel('Password').first();
      await password.fill('password1234');
      await viewer.page.getByRole('button', { name: 'Join' }).click();
      await viewer.page.getByText(/^password is easy to guess/).waitFor();
      await password.fill('battery staple correct horse');
      await viewer.page.getByRole('button', { name: 'Join' }).click();
      await viewer.page.getByRole('button', { name: 'Account of Grace' }).waitFor();
    });

    test('cannot start a pause of sending or a new rule', async () => {
      await open('settings/sending-policy', viewer.page);
      const main = viewer.page.getByRole('main');
      expect(await main.getByRole('button', { name: 'Pause sending' }).isDisabled()).toBe(true);
      await open('rules/new', viewer.page);
      await main.getByText('Creating a rule requires the editor role').waitFor();
      expect(viewer.pageErrors).toEqual([]);
    });
  });

  test('the pages above log no errors', () => {
    expect(pageErrors).toEqual([]);
  });
});

type Tick = { text: string; x: number; y: number };

function ticksOf(chart: Locator, axis: 'x' | 'y'): Promise<Tick[]> {
  return chart.locator(`[data-part="${axis}-labels"] text`).evaluateAll((ticks) =>
    (
      ticks as unknown as {
        textContent: string;
        getBoundingClientRect(): { x: number; y: number; width: number };
      }[]
    ).map((tick) => {
      const { x, y, width } = tick.getBoundingClientRect();
      return { text: tick.textContent, x: x + width / 2, y };
    }),
  );
}

function differences(numbers: number[]): number[] {
  return numbers.slice(1).map((number, at) => number - (numbers[at] ?? 0));
}
