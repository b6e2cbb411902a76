import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { screensOf } from '../kit/screens.ts';
import { type Session, sessionOf, signedIn } from '../kit/session.ts';
import { settled, tabsOf, walkTo } from '../kit/walk.ts';

/** Words with an underscore in all texts and labels of the page, outside of code, of fields and of filter hints. */
const CODES = `(() => {
  const exempt = 'code, pre, kbd, .cm-editor, textarea, [contenteditable], iframe, script, style';
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (!node.parentElement.closest(exempt)) texts.push(node.data);
  for (const element of document.querySelectorAll('[aria-label], [title], [alt]')) {
    if (element.closest(exempt)) continue;
    for (const name of ['aria-label', 'title', 'alt']) {
      const text = element.getAttribute(name) ?? '';
      if (!text.startsWith('Filter syntax:')) texts.push(text);
    }
  }
  return [...new Set(texts.flatMap((text) => text.match(/[\\w.]*[a-z]_[a-z]\\w*/g) ?? []))];
})()`;

describe.skipIf(!hasBrowser)('display names of codes', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let troubles: string[];
  let paths: string[];
  let isUserData: (word: string) => boolean;
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const owner = await newPerson(browser);
    ({ page, troubles } = owner);
    await signedIn(owner.context, installation);
    const { id } = await installation.command<{ id: number }>('demo');
    const session = sessionOf(owner.context, installation);
    isUserData = await userDataOf(session, id);
    paths = await screensOf(session, id);
    await page.goto(`${installation.url}/projects`);
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  test('shows no code of the server on any screen of the demo, nor in any of its tabs', async () => {
    const found: Record<string, string[]> = {};
    for (const path of paths) {
      await walkTo(page, path);
      const codes = new Set(await codesOf(page));
      for (const tab of await tabsOf(page)) {
        await tab.click();
        await settled(page);
        for (const code of await codesOf(page)) codes.add(code);
      }
      const shown = [...codes].filter((code) => !isUserData(code));
      if (shown.length > 0) found[path] = shown;
    }
    expect(found).toEqual({});
    expect(troubles).toEqual([]);
  }, 300_000);
});

function codesOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(CODES);
}

/** The names that the demo's own data contains: ids of users, and names of events, properties, traits, rules and templates. */
async function userDataOf(session: Session, projectId: number): Promise<(word: string) => boolean> {
  const lists = await Promise.all(
    ['events', 'rules', 'templates', 'audiences', 'replies'].map((list) =>
      session.ask<{ data: object[] }>('GET', `/projects/${projectId}/${list}`),
    ),
  );
  const names = new Set(lists.flatMap(({ data }) => data.flatMap(namesOf)));
  return (word) => names.has(word) || /^user_\d+$/.test(word);
}

function namesOf(listed: object): string[] {
  const { name = '', properties = [] } = listed as { name?: string; properties?: { name: string }[] };
  return [name, ...properties.map((property) => property.name)];
}
