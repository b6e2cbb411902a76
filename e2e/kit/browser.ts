import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

/** Without a browser its tests are skipped, and the output says so. */
export const hasBrowser = CHROMIUM !== undefined;

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function openBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('there is no browser here');
  return chromium.launch({ executablePath: CHROMIUM, args: ARGS });
}

export type Looks = { dark?: boolean; timeZone?: string; width?: number; height?: number };

/** Opens an empty browser context. Every message of its error console counts as an error of the page. */
export async function newPerson(
  browser: Browser,
  looks: Looks = {},
): Promise<{ context: BrowserContext; page: Page; pageErrors: string[] }> {
  const { dark = false, timeZone = 'Europe/Berlin', width = 1280, height = 800 } = looks;
  const context = await browser.newContext({
    colorScheme: dark ? 'dark' : 'light',
    timezoneId: timeZone,
    viewport: { width, height },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const pageErrors: string[] = [];
  context.on('weberror', (error) => pageErrors.push(String(error.error())));
  context.on('console', (message) => {
    if (message.type() === 'error' && !isExpected(message.text())) pageErrors.push(message.text());
  });
  return { context, page: await context.newPage(), pageErrors };
}

/**
 * Recognizes messages that the browser logs for expected events. It logs every response other than 2xx, which some tests provoke, and
 * external images of an email, which its frame blocks.
 */
function isExpected(text: string): boolean {
  return text.startsWith('Failed to load resource') || /directive: "img-src data:"/.test(text);
}

export type Violation = { id: string; nodes: string[] };
type AxeResult = { violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] };

// Frames are skipped: the email in one is its author's own and sends no messages to axe. Preloading of style sheets and media is not needed
// here.
const runAxe = (rules: string): string => `axe.run({
  iframes: false,
  preload: false,
  resultTypes: ['violations'],
  ${rules}
})`;
const ALL = runAxe(`
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  // A menu hangs on its button and not in the page's outline; axe knows that of dialogs alone.
  rules: { region: { enabled: document.querySelector('[role=menu]') === null } },
`);
const COLOURS = runAxe(`runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },`);
const HAS_AXE = `'axe' in globalThis`;
const SHOWN = 3;

/** Returns the accessibility violations of the page. `colours` checks only those that depend on colors. */
export async function violationsOf(page: Page, of: 'all' | 'colours' = 'all'): Promise<Violation[]> {
  const run = of === 'all' ? ALL : COLOURS;
  if (!(await page.evaluate<boolean>(HAS_AXE))) await page.evaluate(axe.source);
  let { violations } = await page.evaluate<AxeResult>(run);
  // The page may have changed during the check, so violations are checked again.
  if (violations.length > 0) ({ violations } = await page.evaluate<AxeResult>(run));
  return violations.map(({ id, nodes }) => ({
    id,
    nodes: nodes
      .slice(0, SHOWN)
      .map(({ html, failureSummary }) => `${html.slice(0, 300)} ${failureSummary ?? ''}`),
  }));
}
