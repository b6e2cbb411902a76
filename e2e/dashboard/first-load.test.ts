import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../kit/browser.ts';
import { DEMO_TIMEOUT_MS, type DemoInBrowser, demoInBrowser } from '../kit/demo.ts';
import { screenOf, screensOf } from '../kit/screens.ts';
import { scriptBytes } from '../kit/script-bytes.ts';

const SCRIPT_MAX_BYTES = 250_000;

describe.skipIf(!hasBrowser)('first load of a screen', () => {
  let owner: DemoInBrowser;
  beforeAll(async () => {
    owner = await demoInBrowser();
  }, DEMO_TIMEOUT_MS);
  afterAll(() => owner.close());

  /** Opens a screen in a context of its own, which has an empty cache. */
  async function visit(path: string): Promise<{ page: Page; bytes: number }> {
    const storageState = await owner.context.storageState();
    const page = await (await owner.browser.newContext({ storageState })).newPage();
    return { page, bytes: await scriptBytes(page, owner.installation.url + path) };
  }

  test('receives at most 250 kB of script until the heading and the data are shown', async () => {
    const { session, demo } = owner;
    const tooLarge: Record<string, number> = {};
    for (const path of await screensOf(session, demo)) {
      const { page, bytes } = await visit(path);
      if (bytes > SCRIPT_MAX_BYTES) tooLarge[screenOf(path)] = bytes;
      await page.context().close();
    }
    expect(tooLarge).toEqual({});
  }, 300_000);

  test('loads a menu when its button is used, and returns the focus to the button', async () => {
    const { page } = await visit(`/p/${owner.demo}/users`);
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.getByRole('button', { name: 'Views' }).focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('menu');
    await menu.waitFor();
    expect(requested.filter((url) => url.includes('/views-menu-'))).toHaveLength(1);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Views');
    await page.context().close();
  });
});
