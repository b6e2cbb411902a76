import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, newPerson, violationsOf } from '../kit/browser.ts';
import { DEMO_TIMEOUT_MS, type DemoInBrowser, demoInBrowser } from '../kit/demo.ts';
import { type Overlay, OVERLAYS } from '../kit/openings.ts';
import { screensOf } from '../kit/screens.ts';
import { settled, navigateTo } from '../kit/walk.ts';

const NARROW_PX = 640;
/** Charts measure their container again some frames later. */
const FRAMES_UNTIL_FITTING = `(async () => {
  for (let frame = 0; ; frame++) {
    const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (frame > 1 && (over <= 0 || frame > 60)) return over;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
})()`;

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>;

const isLong = process.env.E2E_LONG === 'on';
const DARK_SCREENS = 12;

describe.skipIf(!hasBrowser)('accessibility in Chromium', () => {
  let owner: DemoInBrowser;
  let browser: Browser;
  let url: string;
  let cookies: Cookies;
  let paths: string[];
  let found: Record<'light' | 'dark', Found>;
  beforeAll(async () => {
    owner = await demoInBrowser();
    const { context, session, own, demo } = owner;
    ({ browser } = owner);
    ({ url } = owner.installation);
    cookies = await context.cookies();
    paths = await screensOf(session, demo);
    if (isLong) paths.push(...(await screensOf(session, own)));
    await context.close();
    const [light, dark] = await Promise.all([look(false), look(true)]);
    found = { light, dark };
  }, DEMO_TIMEOUT_MS);
  afterAll(() => owner.close());

  type Found = { blockers: string[]; wide: string[]; pageErrors: string[] };

  /**
   * Visits every screen once per theme, both themes at the same time. The dark theme is the same page in other colors. Its first screen,
   * which has the theme switch, gets every check. Its other screens get only the checks that depend on colors: a few screens by default,
   * all with `E2E_LONG`. The same applies to the screens of an empty project.
   */
  async function look(dark: boolean): Promise<Found> {
    const { context, page, pageErrors } = await newPerson(browser, { dark });
    await context.addCookies(cookies);
    await page.goto(`${url}/projects`);
    const [blockers, wide]: [string[], string[]] = [[], []];
    const visits = dark && !isLong ? paths.slice(0, DARK_SCREENS) : paths;
    for (const [at, path] of visits.entries()) {
      await navigateTo(page, path);
      const violations = await violationsOf(page, dark && at > 0 ? 'colours' : 'all');
      blockers.push(...violations.map((violation) => `${path}: ${JSON.stringify(violation)}`));
      const over = dark ? 0 : await tooWide(page);
      if (over > 0) wide.push(`${path} by ${over}`);
    }
    await context.close();
    return { blockers, wide, pageErrors };
  }

  test.each(['light', 'dark'] as const)(
    'finds no accessibility violations on any screen, with data and without, in %s',
    (theme) => {
      expect(found[theme].blockers).toEqual([]);
      expect(found[theme].pageErrors).toEqual([]);
    },
  );

  /** Returns the path of a screen. A screen of one item uses the item that `screensOf` visited. */
  function pathOf({ path }: Overlay): string {
    if (path === 'projects') return '/projects';
    const whole = `/p/${owner.demo}/${path}`;
    return path.endsWith('/') ? (paths.find((candidate) => candidate.startsWith(whole)) ?? whole) : whole;
  }

  test.concurrent.each([
    ['light', false] as const,
    // The dark theme takes as long again, so it is part of the long proof only.
    ...(isLong ? [['dark', true] as const] : []),
  ])(
    'finds no accessibility violations in overlays, and returns the focus on close, in %s',
    async (_, dark) => {
      const { context, page, pageErrors } = await newPerson(browser, { dark });
      await context.addCookies(cookies);
      await page.goto(`${url}/projects`);
      const blockers: unknown[] = [];
      for (const overlay of OVERLAYS) {
        await navigateTo(page, pathOf(overlay));
        const faults = await openAndClose(page, overlay, dark ? 'colours' : 'all');
        if (faults.length > 0) blockers.push({ ...overlay, faults });
      }
      await context.clearCookies();
      await page.evaluate(`history.pushState({}, '', '/p/${owner.demo}/events')`);
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      await settled(page);
      blockers.push(...(await violationsOf(page)));
      await context.close();
      expect(blockers).toEqual([]);
      expect(pageErrors).toEqual([]);
    },
    240_000,
  );

  test('needs no horizontal scrolling at 200 % zoom, 640 pixels wide', () => {
    expect(found.light.wide).toEqual([]);
  });
});

/** Opens an overlay, checks it, and closes it with Esc. The focus must return to where it was. */
async function openAndClose(page: Page, { by }: Overlay, of: 'all' | 'colours'): Promise<unknown[]> {
  const over = page.locator('[role="dialog"][aria-modal="true"], [role="menu"]').filter({ visible: true });
  const [first = '', ...rest] = by;
  const opener = controlOf(page, first);
  await opener.click();
  for (const name of rest) await controlOf(page, name).click();
  await over.first().waitFor();
  if (rest.length > 0)
    await page.locator('[role="menu"]').filter({ visible: true }).waitFor({ state: 'hidden' });
  await settled(page);
  const faults: unknown[] = await violationsOf(page, of);
  await page.keyboard.press('Escape');
  await over.first().waitFor({ state: 'hidden' });
  await opener
    .and(page.locator(':focus'))
    .waitFor({ timeout: 10_000 })
    .catch(() => faults.push('the focus is gone'));
  return faults;
}

function controlOf(page: Page, name: string): Locator {
  if (name === 'row') return page.locator('[data-row] :is(a, button)').first();
  const words = name.endsWith('*') ? new RegExp(`^${name.slice(0, -1)}`) : name;
  const named = { name: words, exact: true };
  return page
    .getByRole('menuitem', named)
    .or(page.getByRole('button', named))
    .filter({ visible: true })
    .first();
}

/** Returns by how much the screen is wider than a window of half the size. */
async function tooWide(page: Page): Promise<number> {
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  await page.setViewportSize({ ...size, width: NARROW_PX });
  const over = await page.evaluate<number>(FRAMES_UNTIL_FITTING);
  await page.setViewportSize(size);
  return over;
}
