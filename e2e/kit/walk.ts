import type { Page } from 'playwright-core';

/** Goes to another screen as a link of the page does, without a reload. */
export async function navigateTo(page: Page, path: string): Promise<void> {
  const isOtherPath = new URL(path, page.url()).pathname !== new URL(page.url()).pathname;
  await page.evaluate(`{
    for (const title of document.querySelectorAll('h1')) title.toggleAttribute('data-left', ${isOtherPath});
    history.pushState({}, '', ${JSON.stringify(path)});
  }`);
  await page.locator('h1:not([data-left])').first().waitFor();
  await settled(page);
}

/** Waits until nothing is loading and no skeleton is left. */
export async function settled(page: Page): Promise<void> {
  await page
    .locator('.mantine-Skeleton-root, [aria-busy="true"], .mantine-Button-root[data-loading]')
    .first()
    .waitFor({ state: 'detached' });
}

/** Waits for words on the page. The error says what the notifications say instead. */
export async function shownText(page: Page, words: string | RegExp): Promise<void> {
  try {
    await page.getByText(words).first().waitFor();
  } catch {
    const notices = await page.locator('.mantine-Notification-root').allInnerTexts();
    throw new Error(
      `${String(words)} is not on ${page.url()}, but these notifications: ${JSON.stringify(notices)}`,
    );
  }
}

/** Opens each tab of the screen, and each tab within its content, and calls `look` every time. */
export async function eachTab(page: Page, look: () => Promise<void>, within = ''): Promise<void> {
  const inPanel = `${within}[role="tabpanel"] `;
  const tabs = page
    .getByRole('main')
    .locator(`${within}[role="tab"]:not([disabled], ${inPanel}*)`)
    .filter({ visible: true });
  for (let at = 0; at < (await tabs.count()); at++) {
    await tabs.nth(at).click();
    await settled(page);
    await look();
    await eachTab(page, look, inPanel);
  }
}
