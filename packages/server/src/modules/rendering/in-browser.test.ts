import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findShippedEmail, shippedEmailNames } from './shipped.ts';
import type { TemplateText } from './template.ts';
import { renderEmail } from './render-email.ts';
import { renderContent } from './render.ts';
import { variablesFor } from './variables.ts';

/** Skipped, and reported as skipped, if the system has no Chromium. */
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Everything that Markdown can produce, and words wider than any phone. */
const KITCHEN: TemplateText = {
  subject: 'Everything',
  preheader: 'Soon',
  body: `# A heading ${'w'.repeat(80)}

Words, **bold**, \`code ${'c'.repeat(200)}\`, [a link ${'l'.repeat(200)}](https://a.example/${'p'.repeat(300)}) and ${'x'.repeat(300)}

> A quote with [a link](https://a.example) and \`code\`

- one ${'y'.repeat(120)}
  - two

| ${'A'.repeat(80)} | B ${'b'.repeat(80)} | C |
|---|---|---|
| 1 [a](https://a.example) | 2 | ${'3'.repeat(80)} |

    ${'code '.repeat(60)}

---

End`,
  format: 'markdown',
};

function shipped(name: string): TemplateText {
  const email = findShippedEmail(name);
  if (email === undefined) throw new Error(`there is no template ${name}`);
  const variables = variablesFor({
    person: { userId: 'u1', traits: new Map([['name', 'Ada']]), email: 'ada@example.com' },
    anchor: { name: 'user_signed_up', properties: { plan: 'pro' }, occurredAt: Date.UTC(2026, 5, 1) },
    endsAt: Date.UTC(2026, 5, 5),
    project: { name: 'Acme' },
    zone: 'UTC',
    locale: 'en',
  });
  return renderContent(email, variables).content;
}

const EMAILS: [string, TemplateText][] = [
  ...shippedEmailNames().map((name): [string, TemplateText] => [name, shipped(name)]),
  ['everything', KITCHEN],
];
const SCREENS = [375, 1200].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme, id: `${width} px, ${scheme}` })),
);

/** The page as a browser shows it. `weakest`: the lowest contrast of any text with its background, and the text. */
type Seen = {
  sideways: number;
  widest: number;
  weakest: { ratio: number; words: string };
  openRelay: { width: number; height: number };
  background: number;
};

/** The script that runs within the page. */
const LOOK = `(() => {
  const parts = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const light = (color) => {
    const [r, g, b] = parts(color).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (parts(color)[3] !== 0) return color;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'rgb(18, 18, 18)' : 'rgb(255, 255, 255)';
  };
  const weakest = { ratio: 21, words: '' };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    const words = node.nodeValue.trim();
    if (words === '' || element.getClientRects().length === 0) continue;
    const pair = [light(getComputedStyle(element).color), light(behind(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < weakest.ratio) Object.assign(weakest, { ratio, words: words.slice(0, 40) });
  }
  const { width, height } = [...document.querySelectorAll('a')].at(-1).getBoundingClientRect();
  const columns = [...document.querySelectorAll('td.bk-email, td.bk-foot')];
  return {
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    widest: Math.max(...columns.map((one) => one.getBoundingClientRect().width)),
    weakest,
    openRelay: { width, height },
    background: light(behind(document.body)),
  };
})()`;

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ARGS });
  }, 60_000);
  afterAll(() => browser.close());

  test.each(SCREENS)(
    'at $id emails never scroll sideways, are readable, and have an unsubscribe link that a thumb can hit',
    async ({ width, scheme }) => {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme: scheme,
        offline: true,
        javaScriptEnabled: true,
      });
      const page = await context.newPage();
      for (const [name, email] of EMAILS) {
        const { html } = renderEmail(email, {
          projectName: 'Acme',
          postalAddress: 'Acme GmbH, High Street 1, 10115 Berlin',
          unsubscribeUrl: 'https://mail.example/u/abc',
          locale: 'en',
          projectLocale: 'en',
        });
        await page.setContent(html);
        const seen = await page.evaluate<Seen>(LOOK);
        expect({ name, sideways: seen.sideways }).toEqual({ name, sideways: 0 });
        expect(seen.widest).toBeLessThanOrEqual(Math.min(width, 600));
        expect(seen.weakest.ratio, `${name}: ${seen.weakest.words}`).toBeGreaterThanOrEqual(4.5);
        expect(seen.openRelay.height).toBeGreaterThanOrEqual(44);
        expect(seen.openRelay.width).toBeGreaterThanOrEqual(44);
        expect(seen.background > 0.5).toBe(scheme === 'light');
      }
      await context.close();
    },
    60_000,
  );
});
