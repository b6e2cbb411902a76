import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../kit/browser.ts';
import { DEMO_TIMEOUT_MS, type DemoInBrowser, demoInBrowser } from '../kit/demo.ts';
import { screensOf } from '../kit/screens.ts';
import type { Session } from '../kit/session.ts';
import { eachTab, navigateTo } from '../kit/walk.ts';

/**
 * Finds words with an underscore, authors of changes as the server names them, and times as numbers. It looks at all texts and labels of
 * the page, outside of code and fields.
 */
const CODES = `(() => {
  const exempt = 'code, pre, kbd, .cm-editor, textarea, [contenteditable], iframe, script, style';
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (!node.parentElement.closest(exempt)) texts.push(node.data);
  for (const element of document.querySelectorAll('[aria-label], [title], [alt]')) {
    if (element.closest(exempt)) continue;
    for (const name of ['aria-label', 'title', 'alt']) {
      texts.push(element.getAttribute(name) ?? '');
    }
  }
  return [...new Set(texts.flatMap((text) => text.match(/[\\w.]*[a-z]_[a-z]\\w*|\\bengine\\b|\\breply:[0-9a-f]+|\\b1[5-9]\\d{11}\\b/g) ?? []))];
})()`;

describe.skipIf(!hasBrowser)('screens of the demo', () => {
  let owner: DemoInBrowser;
  let page: Page;
  let pageErrors: string[];
  let paths: string[];
  let isUserData: (word: string) => boolean;
  beforeAll(async () => {
    owner = await demoInBrowser();
    const { session, demo } = owner;
    ({ page, pageErrors } = owner);
    isUserData = await userDataOf(session, demo);
    paths = await screensOf(session, demo);
    await page.goto(`${owner.installation.url}/projects`);
  }, DEMO_TIMEOUT_MS);
  afterAll(() => owner.close());

  test('show no server codes in any tab', async () => {
    const found: Record<string, string[]> = {};
    for (const path of paths) {
      await navigateTo(page, path);
      const codes = new Set(await codesOf(page));
      await eachTab(page, async () => {
        for (const code of await codesOf(page)) codes.add(code);
      });
      const codesOnScreen = [...codes].filter((code) => !isUserData(code));
      if (codesOnScreen.length > 0) found[path] = codesOnScreen;
    }
    expect(found).toEqual({});
    expect(pageErrors).toEqual([]);
  }, 300_000);
});

function codesOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(CODES);
}

/**
 * Recognizes the names in the demo's data: ids of users, variables in subjects, and names of events, properties, traits, rules and
 * templates. Time zones have the names of the IANA database.
 */
async function userDataOf(session: Session, projectId: number): Promise<(word: string) => boolean> {
  const lists = await Promise.all(
    ['events', 'rules', 'templates', 'audiences', 'replies'].map((list) =>
      session.request<{ data: Listed[] }>('GET', `/projects/${projectId}/${list}`),
    ),
  );
  const zones = Intl.supportedValuesOf('timeZone').map((zone) => zone.split('/').at(-1) ?? zone);
  const names = new Set([...lists.flatMap(({ data }) => data.flatMap(namesOf)), ...zones]);
  return (word) => names.has(word) || /^user_\d+$/.test(word);
}

type Listed = { name?: string; subject?: string; properties?: { property: string }[] };

function namesOf({ name = '', subject = '', properties = [] }: Listed): string[] {
  const variables = subject.match(/[\w.]+/g) ?? [];
  return [name, ...variables, ...properties.map(({ property }) => property)];
}
