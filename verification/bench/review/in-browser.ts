import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openBrowser } from '../../../e2e/kit/browser.ts';
import { screensOf } from '../../../e2e/kit/screens.ts';
import { scriptBytes } from '../../../e2e/kit/script-bytes.ts';
import { settled } from '../../../e2e/kit/walk.ts';
import { median } from '../measure.ts';
import { ms, ratio, round } from '../print.ts';
import type { ReviewClient } from './review-client.ts';

const CLICKS = 20;
const SCROLLS = 60;
const SCROLL_PX = 1_200;
const FRAME_MS = 16;

type Figures = (browser: Browser, client: ReviewClient) => Promise<string[][]>;

/** Measures in a browser of its own, so that one measurement leaves nothing to the next. */
export async function inBrowser(client: ReviewClient, figures: Figures): Promise<string[][]> {
  const browser = await openBrowser();
  try {
    return await figures(browser, client);
  } finally {
    await browser.close();
  }
}

async function openContext(browser: Browser, { url, cookies }: ReviewClient): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies(cookies.map(({ name, value }) => ({ name, value, url })));
  return context;
}

/** The screens that the clicks alternate between, by the end of their path. */
const CLICKED = ['users', 'rules', 'audiences', 'templates', 'insights', 'review'];

/** From a click on a link of the sidebar to the frame with the heading of the screen, which was open before. */
export async function clickFigures(browser: Browser, client: ReviewClient): Promise<string[][]> {
  const context = await openContext(browser, client);
  const page = await context.newPage();
  await page.goto(`${client.url}/p/${client.projectId}/home`);
  for (const path of CLICKED) await clickTime(page, path);
  const times: number[] = [];
  for (let n = 0; n < CLICKS; n += 1) times.push(await clickTime(page, CLICKED[n % CLICKED.length] ?? ''));
  const bare = await bareClickTimes(await context.newPage());
  await context.close();
  const [own, baseline] = [median(times), median(bare)];
  return [
    ['heading on a page without a framework', ms(baseline), '1.00'],
    [`heading after a warm click, median of ${CLICKS}`, ms(own), ratio(own / baseline)],
    ['the slowest of them', ms(Math.max(...times)), ratio(Math.max(...times) / baseline)],
  ];
}

/** The browser waits for a promise that a script evaluates to, so these end with nothing. */
const END = 'void 0;';

async function clickTime(page: Page, path: string): Promise<number> {
  const link = page.locator(`nav a[href$="/${path}"]`).first();
  await link.waitFor();
  await page.evaluate(`{
    const before = document.querySelector('h1');
    globalThis.shown = new Promise((resolve) => {
      document.addEventListener('click', () => {
        const clickedAt = performance.now();
        const look = () => {
          const heading = document.querySelector('h1');
          if (heading !== null && heading !== before && location.pathname.endsWith('/${path}'))
            requestAnimationFrame(() => resolve(performance.now() - clickedAt));
          else requestAnimationFrame(look);
        };
        look();
      }, { capture: true, once: true });
    });
    ${END}
  }`);
  await link.click();
  const time = await page.evaluate<number>('globalThis.shown');
  await settled(page);
  return time;
}

/** The minimum of a click: one element is replaced, and the next frame shows it. */
async function bareClickTimes(page: Page): Promise<number[]> {
  await page.setContent('<button>Next</button><h1>0</h1>');
  const times: number[] = [];
  for (let n = 0; n < CLICKS; n += 1) {
    await page.evaluate(`{
      globalThis.shown = new Promise((resolve) => {
        document.querySelector('button').onclick = () => {
          const clickedAt = performance.now();
          const heading = document.createElement('h1');
          heading.textContent = '${n}';
          document.querySelector('h1').replaceWith(heading);
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - clickedAt)));
        };
      });
      ${END}
    }`);
    await page.getByRole('button').click();
    times.push(await page.evaluate<number>('globalThis.shown'));
  }
  return times;
}

/** A task that blocks the page for more than 50 ms is a long one. */
const OBSERVE = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration, startTime } of list.getEntries()) globalThis.longTasks.push({ duration, startTime });
  }).observe({ type: 'longtask', buffered: true });`;

/** What a member does in a list. `scroller`: the element that scrolls. */
type Visit = { name: string; path: string; scroller: string; filters: string[]; sorts: string[] };

const VISITS: Visit[] = [
  {
    name: 'Users',
    path: 'users',
    scroller: '[role="table"]',
    filters: ['user_1234', 'plan:pro ', 'name of'],
    sorts: ['User', 'First seen'],
  },
  {
    name: 'Review',
    path: 'review',
    scroller: '[role="grid"]',
    filters: ['user_1234', 'state:scheduled ', 'hello'],
    sorts: [],
  },
];

export async function taskFigures(browser: Browser, client: ReviewClient): Promise<string[][]> {
  const rows: string[][] = [];
  for (const visit of VISITS) {
    const context = await openContext(browser, client);
    const page = await context.newPage();
    await page.addInitScript(OBSERVE);
    await page.goto(`${client.url}/p/${client.projectId}/${visit.path}`);
    await page.locator('h1').first().waitFor();
    await settled(page);
    const loading = await longestTask(page);
    await scroll(page, visit);
    const scrolling = await longestTask(page);
    await filter(page, visit);
    const filtering = await longestTask(page);
    await context.close();
    rows.push([visit.name, ...[loading, scrolling, filtering].map(taskText)]);
  }
  return rows;
}

function taskText(duration: number): string {
  return duration === 0 ? 'below 50 ms' : `${round(duration)} ms`;
}

/** Returns the longest task since the last call, 0 if none was long. */
async function longestTask(page: Page): Promise<number> {
  const tasks = await page.evaluate<{ duration: number }[]>('globalThis.longTasks.splice(0)');
  return Math.max(0, ...tasks.map(({ duration }) => duration));
}

async function scroll(page: Page, { scroller }: Visit): Promise<void> {
  const box = await page.locator(scroller).filter({ visible: true }).first().boundingBox();
  await page.mouse.move((box?.x ?? 0) + 100, (box?.y ?? 0) + 200);
  for (let n = 0; n < SCROLLS; n += 1) {
    await page.mouse.wheel(0, n % 10 === 9 ? -SCROLL_PX : SCROLL_PX);
    await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${2 * FRAME_MS}))`);
  }
  await settled(page);
}

async function filter(page: Page, { filters, sorts }: Visit): Promise<void> {
  const input = page.getByRole('combobox', { name: /^Filter/ });
  for (const text of filters) {
    await input.click();
    const answered = page.waitForResponse((response) => response.url().includes('filter='));
    await input.pressSequentially(text, { delay: 2 * FRAME_MS });
    await answered;
    await settled(page);
    await page.getByRole('button', { name: 'Clear filter' }).click();
    await page.waitForURL((url) => !url.searchParams.has('filter'));
    await settled(page);
  }
  // The first closes the suggestions, which cover the head of the table, and the second leaves the input.
  for (const _ of [1, 2]) await input.press('Escape');
  for (const title of sorts) {
    await page.getByRole('columnheader', { name: title, exact: true }).getByRole('button').click();
    await settled(page);
  }
}

/** The bytes of script of each screen, counted as in `e2e/dashboard/first-load.test.ts`. The cache is empty. */
export async function scriptFigures(browser: Browser, client: ReviewClient): Promise<string[][]> {
  const screens = await screensOf(client, client.projectId);
  const sizes: [string, number][] = [];
  for (const path of screens) {
    const context = await openContext(browser, client);
    sizes.push([
      path.replace(`/p/${client.projectId}/`, ''),
      await scriptBytes(await context.newPage(), `${client.url}${path}`),
    ]);
    await context.close();
  }
  return sizes
    .toSorted((a, b) => b[1] - a[1])
    .map(([path, bytes]) => [path, `${(bytes / 1_000).toFixed(1)} kB`]);
}
