import type { Page } from 'playwright-core';
import { settled } from './walk.ts';

/**
 * Records when the page showed its heading and its data, which is when its last skeleton disappeared. A part that is loaded later and shows a
 * skeleton therefore counts too.
 */
const OBSERVE = `{
  globalThis.shownAt = null;
  const look = () => {
    const isShown = document.querySelector('h1') !== null
      && document.querySelector('.mantine-Skeleton-root, [aria-busy="true"]') === null;
    if (!isShown) globalThis.shownAt = null;
    else globalThis.shownAt ??= performance.now();
  };
  new MutationObserver(look).observe(document, {
    childList: true, subtree: true, attributes: true, attributeFilter: ['aria-busy', 'class'],
  });
}`;

/** Adds up the transferred bytes, compressed and with their headers, of the scripts that were requested before that. */
const COUNT = `(() => {
  if (globalThis.shownAt === null) return null;
  return performance.getEntriesByType('resource')
    .filter(({ name, startTime }) => /\\.js$/.test(name) && startTime < globalThis.shownAt)
    .reduce((sum, { transferSize }) => sum + transferSize, 0);
})()`;

/** The parts that follow the first screen are loaded then, so everything of the screen itself is shown. */
const NOTIFICATIONS = '[data-position="bottom-left"]';

/** Returns the bytes of script that the browser received until it showed the heading and the data of a screen. The page must be new. */
export async function scriptBytes(page: Page, url: string): Promise<number> {
  await page.addInitScript(OBSERVE);
  await page.goto(url);
  await page.locator('h1').first().waitFor();
  await page.locator(NOTIFICATIONS).first().waitFor({ state: 'attached' });
  await settled(page);
  const bytes = await page.evaluate<number | null>(COUNT);
  if (bytes === null || bytes === 0) throw new Error(`${url} shows no data, or received no script`);
  return bytes;
}
