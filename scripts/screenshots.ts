import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { hasBrowser, newPerson, openBrowser } from '../e2e/kit/browser.ts';
import { emptyInstallation } from '../e2e/kit/installation.ts';
import { type Session, sessionOf, signedIn } from '../e2e/kit/session.ts';

/** The screenshots of the README and the guide: a demo, in both themes. */
const FOLDER = join(import.meta.dirname, '../docs/screenshots');

if (!hasBrowser) throw new Error('Chromium is needed for this: apt-get install chromium');
await mkdir(FOLDER, { recursive: true });
const [browser, installation] = [await openBrowser(), await emptyInstallation()];
try {
  const first = await newPerson(browser);
  await signedIn(first.context, installation);
  const { id } = await installation.command<{ id: number }>('demo');
  const cookies = await first.context.cookies();
  for (const dark of [false, true]) {
    const { context, page } = await newPerson(browser, { dark, width: 1440, height: 900 });
    await context.addCookies(cookies);
    for (const [name, path] of await screensToCapture(sessionOf(context, installation), id)) {
      await page.goto(`${installation.url}/p/${id}/${path}`);
      await settled(page);
      await page.screenshot({ path: join(FOLDER, `${name}-${dark ? 'dark' : 'light'}.png`) });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await installation.remove();
}

async function screensToCapture(session: Session, project: number): Promise<[string, string][]> {
  type Listed = { data: { id: string; external_user_id: string; name: string }[] };
  const list = async (path: string): Promise<Listed['data']> =>
    (await session.request<Listed>('GET', `/projects/${project}/${path}`)).data;
  const rule = (await list('rules')).find(({ name }) => name === 'Trial tour');
  const [draft] = await list('drafts?limit=1');
  const user = await session.request<{ data: { user: { external_user_id: string } } }>(
    'GET',
    `/projects/${project}/drafts/${draft?.id}`,
  );
  return [
    ['home', 'home'],
    ['review', 'review'],
    ['user', `users/${user.data.user.external_user_id}`],
    ['rule', `rules/${rule?.id}`],
    ['live', 'activity'],
    ['test-inbox', 'test-inbox'],
    ['domains', 'settings/domains'],
  ];
}

async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => {});
}
