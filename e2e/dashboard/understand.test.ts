import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { EmailDays, TimelineItem, UserDetails, WhyRule } from '@beckon/contract/dashboard';
import { fateOf } from '../../packages/dashboard/src/screens/people/fate.ts';
import { hasBrowser, violationsOf } from '../kit/browser.ts';
import { DEMO_TIMEOUT_MS, type DemoInBrowser, demoInBrowser } from '../kit/demo.ts';
import { serverWith } from '../kit/public-api.ts';
import type { Session } from '../kit/session.ts';
import { settled } from '../kit/walk.ts';

const OMAR = 'user_1026';
/** Every such user is also opened in the browser; more of them in the long proof. */
const EVERY = process.env.E2E_LONG === 'on' ? 12 : 60;

describe.skipIf(!hasBrowser)('user page, Home, Insights and Live of the demo', () => {
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
  afterEach(() => expect(pageErrors).toEqual([]));
  afterAll(() => owner.close());

  const main = (): Locator => page.getByRole('main');
  const get = async <T>(path: string): Promise<T> =>
    (await session.request<{ data: T }>('GET', `/projects/${demo}/${path}`)).data;
  const countOf = async (link: Locator): Promise<number> =>
    Number((await link.innerText()).replaceAll(',', ''));
  /** The number that a list of the dashboard shows, after it has loaded the filter of the URL. */
  const total = async (list: string): Promise<number> => {
    const filter = new URL(page.url()).searchParams.get('filter') ?? '';
    const path = `/projects/${demo}/${list}?limit=1&filter=${encodeURIComponent(filter)}`;
    type Listed = { meta: { pagination: { total: number } } };
    return (await session.request<Listed>('GET', path)).meta.pagination.total;
  };

  describe('user page', () => {
    test('shows who the user is, whether email reaches them, the next email, and traits at the side', async () => {
      await open(`users/${OMAR}`);
      await main().getByRole('heading', { level: 1, name: 'Omar Abe' }).waitFor();
      await main()
        .getByText(/^(Can|Cannot) receive email/)
        .waitFor();
      await main()
        .getByText(/Lives in America\/Sao Paulo, \d\d:\d\d there/)
        .waitFor();
      const next = page.getByRole('region', { name: 'Next email' });
      expect(await next.innerText()).toMatch(/From .+, because|No email is planned/s);
      const side = page.getByRole('complementary', { name: 'Traits and audiences' });
      expect(await side.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(
        expect.arrayContaining(['Traits', 'Audiences']),
      );
      const [timeline, aside] = [await page.getByRole('tabpanel').boundingBox(), await side.boundingBox()];
      expect(aside?.x).toBeGreaterThan((timeline?.x ?? 0) + (timeline?.width ?? 0) - 1);
      await page.setViewportSize({ width: 390, height: 844 });
      const [above, below] = [await page.getByRole('tabpanel').boundingBox(), await side.boundingBox()];
      expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0));
      expect(await page.evaluate<number>(SIDEWAYS)).toBe(0);
      await page.setViewportSize({ width: 1440, height: 900 });
    });

    test('has no accessibility violations in any tab, nor sideways scrolling on a phone', async () => {
      for (const tab of ['timeline', 'why', 'then']) {
        await open(`users/${OMAR}?tab=${tab}`);
        expect([tab, await violationsOf(page)]).toEqual([tab, []]);
        await page.setViewportSize({ width: 390, height: 844 });
        expect([tab, await page.evaluate<number>(SIDEWAYS)]).toEqual([tab, 0]);
        await page.setViewportSize({ width: 1440, height: 900 });
      }
    });

    test('says why a user cannot receive email', async () => {
      const [user] = await get<{ external_user_id: string }[]>('users?limit=1&filter=-email:*');
      await open(`users/${encodeURIComponent(user?.external_user_id ?? '')}`);
      await main().getByText('Cannot receive email: no address').waitFor();
    });

    test('timeline › has one entry per email with the time of each step, and folds what members did', async () => {
      type Sent = { external_user_id: string; draft_id: string };
      const [sent] = await get<Sent[]>('emails?filter=outcome:opened&limit=1');
      const user = encodeURIComponent(sent?.external_user_id ?? '');
      const items = await get<TimelineItem[]>(`users/${user}/timeline?kinds=email&limit=50`);
      expect(new Set(items.map(({ draft_id: draft }) => draft)).size).toBe(items.length);
      const opened = items.find(({ draft_id: draft }) => draft === sent?.draft_id);
      expect(opened?.steps.map(({ title }) => title)).toEqual(
        expect.arrayContaining(['schedule', 'sent', 'email.opened']),
      );
      await open(`users/${user}`);
      await page.getByRole('group', { name: 'Show only' }).getByText('Emails').click();
      const entry = main()
        .locator('[aria-label^="Timeline, "] > li')
        .filter({ hasText: opened?.title ?? '' })
        .filter({ hasText: 'Opened' })
        .first();
      const steps = await entry
        .getByRole('list', { name: 'Steps of the email' })
        .locator('li')
        .allInnerTexts();
      expect(steps[0]).toMatch(/^Drafted\s+.*\d\d:\d\d$/);
      expect(steps.some((step) => /^Sent\s+.*\d\d:\d\d$/.test(step))).toBe(true);
      expect(steps.join('\n')).not.toMatch(/Editor|engine|Sending started/);
      const head = entry.getByRole('button').first();
      await head.focus();
      await page.keyboard.press('Enter');
      await entry.getByText(/^Sending started/).waitFor();
      await page.keyboard.press('Enter');
      await entry.getByText(/^Sending started/).waitFor({ state: 'detached' });
    });

    test('timeline › shows that a member edited and approved an email as one step', async () => {
      type Draft = { id: string; content_hash?: string; user: { external_user_id: string } };
      const [draft] = await get<Draft[]>('drafts?filter=state:scheduled&limit=1');
      const at = `/projects/${demo}/drafts/${draft?.id}`;
      await session.request('POST', `${at}/open-editor`, {});
      await session.request('POST', `${at}/edit`, { body: 'Hello, this text was changed.' });
      await session.request('POST', `${at}/close-editor`, {});
      await session.request('POST', `${at}/approve`, { anyway: true });
      await open(`users/${encodeURIComponent(draft?.user.external_user_id ?? '')}`);
      await main()
        .getByText(/ edited and approved it$/)
        .first()
        .waitFor();
      expect(
        await main()
          .getByText(/Editor (opened|closed)/)
          .count(),
      ).toBe(0);
      await session.request('POST', `${at}/undo`, {});
    });

    test('History › moves through time with the keyboard and keeps the focus', async () => {
      await open(`users/${OMAR}?tab=then`);
      const slider = page.getByRole('slider', { name: 'Date' });
      await slider.focus();
      const at = (): number => Date.parse(new URL(page.url()).searchParams.get('at') ?? '');
      const isFocused = (): Promise<boolean> => page.evaluate(`document.activeElement.role === 'slider'`);
      const shown = page.waitForResponse((response) => response.url().includes('/at?at='));
      await page.keyboard.press('ArrowLeft');
      expect((await shown).status()).toBe(200);
      const first = at();
      await page.keyboard.press('ArrowLeft');
      await expect.poll(at).toBe(first - 3_600_000);
      await page.keyboard.press('PageDown');
      await expect.poll(at).toBe(first - 25 * 3_600_000);
      expect(await isFocused()).toBe(true);
      expect(await slider.getAttribute('aria-valuetext')).toMatch(/^\d{1,2} [A-Z][a-z]+, \d\d:\d\d$/);
      await main()
        .getByText(/^Traits on/)
        .waitFor();
      await page.keyboard.press('Home');
      await expect.poll(at).toBeLessThan(first - 25 * 3_600_000);
      expect(await isFocused()).toBe(true);
    });

    test('Explain › gives every user of the demo one fate per rule, and never a start beside it', async () => {
      const ids: string[] = [];
      for (let cursor = ''; ;) {
        type Page = { data: { external_user_id: string }[]; meta: { cursor: string | null } };
        const users = await session.request<Page>('GET', `/projects/${demo}/users?limit=200${cursor}`);
        ids.push(...users.data.map(({ external_user_id: id }) => id));
        if (users.meta.cursor === null) break;
        cursor = `&cursor=${users.meta.cursor}`;
      }
      expect(ids.length).toBeGreaterThan(300);
      for (const [at, id] of ids.entries()) {
        const why = await get<WhyRule[]>(`users/${encodeURIComponent(id)}/why`);
        expect(new Set(why.map(({ rule }) => rule.id)).size, id).toBe(why.length);
        const { runs } = await get<UserDetails>(`users/${encodeURIComponent(id)}`);
        for (const rule of why) {
          const { kind } = fateOf(rule, runs);
          if (kind === 'eligible') expect(rule.drafts.filter(({ state }) => state === 'sent')).toEqual([]);
          if (kind === 'not_eligible') expect(rule.would_fire).toBe(false);
        }
        if (at % EVERY !== 0) continue;
        await open(`users/${encodeURIComponent(id)}?tab=why`);
        const rules = main().locator('section[aria-label]:has(details)');
        await expect.poll(() => rules.count()).toBe(why.length);
        for (const rule of await rules.all()) {
          const fates = (await rule.innerText()).match(FATE) ?? [];
          const text = (await rule.textContent()) ?? '';
          expect(fates, text).toHaveLength(1);
          if (fates[0] !== 'Eligible')
            expect(text).not.toMatch(/Would (start|send|fire)|Starts the rule (?!again)/);
        }
      }
    }, 400_000);
  });

  describe('Home', () => {
    test('every number of emails leads to a list of exactly these, in each range', async () => {
      for (const days of [30, 7, 90]) {
        await open('home');
        await main().getByRole('radiogroup', { name: 'Range' }).getByText(`${days} days`).click();
        await main()
          .getByRole('heading', { name: new RegExp(`last ${days} days`) })
          .waitFor();
        await settled(page);
        const home = page.url();
        for (const metric of ['Sent', 'Opened', 'Clicked', 'Replied']) {
          const link = main().getByRole('link', { name: new RegExp(`^${metric}: `) });
          const count = await countOf(link);
          await link.click();
          await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
          expect([days, metric, await total('emails')]).toEqual([days, metric, count]);
          await page
            .getByText(new RegExp(`\\b${count.toLocaleString('en-GB')}\\b`))
            .first()
            .waitFor();
          await page.goto(home);
          await settled(page);
        }
      }
    });

    test('the counts of what needs attention lead to lists of exactly these', async () => {
      const { needs } = await get<{ needs: { kind: string; drafts?: { count: number } }[] }>('home');
      for (const { kind, drafts } of needs.filter((need) => need.drafts !== undefined)) {
        await open('home');
        const text = kind === 'due_today' ? /deadline today/ : /held and needs? attention|held and need/;
        const need = main().getByRole('listitem').filter({ hasText: text });
        expect(await need.innerText()).toContain(String(drafts?.count));
        await need.getByRole('link').click();
        await page.getByRole('heading', { level: 1, name: 'Review' }).waitFor();
        expect([kind, await total('drafts')]).toEqual([kind, drafts?.count]);
      }
    });

    test('compares with the previous period', async () => {
      const { total: now, before } = await get<EmailDays>('insights/days?days=30&compare=true');
      const sum = (counts: number[] = []): number => counts.reduce((all, count) => all + count, 0);
      await open('home');
      const share = Math.round(((sum(now.sent) - sum(before?.sent)) / sum(before?.sent)) * 100);
      await main()
        .locator('dl > div')
        .filter({ hasText: 'Sent' })
        .getByText(`${share >= 0 ? '+' : ''}${share} %`)
        .waitFor();
    });
  });

  describe('charts', () => {
    test('are moved through with the arrow keys, announce each point, and open it with Enter', async () => {
      await open('insights?range=30d');
      const chart = main().getByRole('group', { name: /^Emails over time/ });
      const surface = chart.locator('svg[tabindex="0"]');
      await surface.focus();
      const announced = chart.getByRole('status');
      await expect
        .poll(() => announced.innerText())
        .toMatch(/^\d{1,2} [A-Z][a-z]+: Sent \d+, Previous period \d+$/);
      const first = await announced.innerText();
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => announced.innerText()).not.toBe(first);
      const { days, total: counts } = await get<EmailDays>('insights/days?days=30');
      for (let at = 1; at < days.length - 1; at++) await page.keyboard.press('ArrowRight');
      const [day, sent] = [days.at(-1) ?? '', counts.sent.at(-1) ?? 0];
      await expect.poll(() => announced.innerText()).toContain(`Sent ${sent},`);
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
      expect(new URL(page.url()).searchParams.get('filter')).toBe(`sent:${day}`);
      expect(await total('emails')).toBe(sent);
    });

    test('have a table with the same numbers, whose days open the same emails', async () => {
      await open('home?metric=opened');
      await main().getByRole('radiogroup', { name: 'By day: as' }).getByText('Table').click();
      const { days, total: counts } = await get<EmailDays>('insights/days?days=30');
      const rows = main().getByRole('table', { name: 'By day' }).locator('tbody tr');
      await rows.first().waitFor();
      expect(await rows.count()).toBe(30);
      const cells = await rows.locator('td:first-of-type').allInnerTexts();
      expect(cells.map(Number)).toEqual(counts.opened);
      const at = counts.opened.findIndex((count) => count > 0);
      await rows.nth(at).getByRole('button').click();
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
      expect(new URL(page.url()).searchParams.get('filter')).toBe(`sent:${days[at]} outcome:opened`);
      expect(await total('emails')).toBe(counts.opened[at]);
    });
  });

  describe('Insights', () => {
    test('leads from a rule in a range to its emails, and from a day to the emails of that rule and day', async () => {
      await open('insights?range=90d');
      const { rules, days } = await get<EmailDays>('insights/days?days=90&rules=true');
      const [rule] = rules;
      if (!rule) throw new Error('no rule has sent an email');
      const link = main().getByRole('link', { name: new RegExp(`^${rule.name}, Sent: `) });
      const count = await countOf(link);
      await link.click();
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
      expect(await total('emails')).toBe(count);
      await page.goBack();
      await settled(page);
      await main()
        .getByRole('button', { name: `Show ${rule.name} in the chart` })
        .click();
      await main()
        .getByRole('heading', { name: `${rule.name} over time` })
        .waitFor();
      await main()
        .getByRole('radiogroup', { name: `${rule.name} over time: as` })
        .getByText('Table')
        .click();
      const rows = main()
        .getByRole('table', { name: `${rule.name} over time` })
        .locator('tbody tr');
      const at = rule.total.sent.findIndex((sent) => sent > 0);
      await rows.nth(at).getByRole('button').click();
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
      expect(new URL(page.url()).searchParams.get('filter')).toBe(`rule:"${rule.name}" sent:${days[at]}`);
      expect(await total('emails')).toBe(rule.total.sent[at]);
    });

    test('a click on a point of the chart opens its emails', async () => {
      await open('insights?range=7d');
      const chart = main().getByRole('group', { name: /^Emails over time/ });
      const box = await chart.locator('[data-part="grid"]').boundingBox();
      if (!box) throw new Error('the chart has no grid');
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await chart.getByText('Show the emails of this day').waitFor();
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
      const { days } = await get<EmailDays>('insights/days?days=7');
      expect(new URL(page.url()).searchParams.get('filter')).toBe(`sent:${days[3]}`);
    });
  });

  test('Live › shows the properties of an event and what it started, with a link to the rule', async () => {
    type Made = { data: { secret: string } };
    const { data } = await session.request<Made>('POST', `/projects/${own}/keys`, { label: 'Live' });
    await page.goto(`${owner.installation.url}/p/${own}/activity`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const post = serverWith(data.secret, owner.installation);
    await post('users', { external_user_id: 'grace', email: 'grace@example.com', traits: { name: 'Grace' } });
    const event = { external_user_id: 'grace', name: 'user_signed_up', properties: { source: 'docs' } };
    expect(await post('events', event)).toBe(202);
    const row = page
      .getByRole('row')
      .filter({ hasText: 'user_signed_up · source: docs · started: welcome' })
      .first();
    await row.waitFor();
    await row.getByRole('button').first().click();
    const panel = page.getByRole('dialog');
    await panel.getByText(/"source": "docs"/).waitFor();
    await panel.getByRole('link', { name: 'welcome' }).waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await row.getByRole('link', { name: 'welcome' }).click();
    await page.getByRole('heading', { level: 1, name: 'welcome' }).waitFor();
  });
});

const SIDEWAYS = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
const FATE =
  /^(Disabled|Waiting|In progress|Sent|Eligible|Not eligible|Failed|Skipped|Canceled|Delivery unknown)$/gm;
