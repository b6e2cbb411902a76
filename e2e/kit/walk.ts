import type { Locator, Page } from 'playwright-core';

/** To another screen as a link of the page would lead there, which loads nothing anew. */
export async function walkTo(page: Page, path: string): Promise<void> {
  const isElsewhere = new URL(path, page.url()).pathname !== new URL(page.url()).pathname;
  await page.evaluate(`{
    for (const title of document.querySelectorAll('h1')) title.toggleAttribute('data-left', ${isElsewhere});
    history.pushState({}, '', ${JSON.stringify(path)});
  }`);
  await page.locator('h1:not([data-left])').first().waitFor();
  await settled(page);
}

/** Once nothing loads any more, and no skeleton is left. */
export async function settled(page: Page): Promise<void> {
  await page
    .locator('.mantine-Skeleton-root, [aria-busy="true"], .mantine-Button-root[data-loading]')
    .first()
    .waitFor({ state: 'detached' });
}

/** The tabs of a screen, found by name, because the content of a tab may have tabs of its own. */
export async function tabsOf(page: Page): Promise<Locator[]> {
  const tabs = page.getByRole('main').getByRole('tab', { disabled: false });
  const names = (await tabs.allInnerTexts()).map((name) => name.split('\n', 1)[0] ?? '');
  return names.map((name) => tabs.filter({ hasText: name }).first());
}
