import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser, violationsOf } from '../kit/browser.ts';
import { type Installation, newInstallation } from '../kit/installation.ts';
import { type Session, signedIn } from '../kit/session.ts';

const STEP_MS = 30_000;
const ROWS = 1_500;
const FILE = {
  name: 'customers.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(
    `ID;E-mail;Plan;Seats\n${Array.from({ length: ROWS }, (_, i) => `u${i};u${i}@example.com;pro;${i}`).join('\n')}\nbad;no address;;\n`,
  ),
};

describe.skipIf(!hasBrowser)('imports in Chromium', () => {
  let browser: Browser;
  let installation: Installation;
  let page: Page;
  let pageErrors: string[];
  let session: Session & { projectId: number };
  beforeAll(async () => {
    browser = await openBrowser();
    installation = await newInstallation();
    const person = await newPerson(browser, { dark: true });
    ({ page, pageErrors } = person);
    session = await signedIn(person.context, installation);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  async function upload(): Promise<void> {
    await page.goto(`${installation.url}/p/${session.projectId}/imports`);
    await page.getByRole('button', { name: 'New import' }).first().click();
    await page.locator('input[type=file]').setInputFiles(FILE);
    await page.getByRole('button', { name: 'Upload' }).click();
  }

  const check = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Check all rows' }).click();
    await page.getByRole('button', { name: 'Start import' }).waitFor();
  };

  test(
    'uploads, maps, checks and imports a file, and finds nothing new the second time',
    async () => {
      await upload();
      await page.getByRole('heading', { name: 'Preview' }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      // A changed column type shows in the rows below at once.
      await page.getByRole('combobox', { name: 'Type of Seats' }).click();
      await page.getByRole('option', { name: 'Text', exact: true }).click();
      await page.getByText('"Seats": "0"').first().waitFor();

      await check();
      await page.getByText('Triggers 0 emails.').first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Start import' }).click();
      await page.getByText('1,500 users: 1,500 new, 0 changed, 0 unchanged').waitFor({ timeout: STEP_MS });
      await page.getByText('It triggered 0 emails.').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.setViewportSize({ width: 640, height: 900 });
      const over = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(over)).toBeLessThanOrEqual(0);
      await page.setViewportSize({ width: 1_280, height: 900 });
      await expect
        .poll(() => session.request('GET', `/projects/${session.projectId}/users/u1499`).catch(() => null), {
          timeout: STEP_MS,
        })
        .not.toBeNull();

      await upload();
      await page.getByRole('combobox', { name: 'Type of Seats' }).click();
      await page.getByRole('option', { name: 'Text', exact: true }).click();
      await page.getByText('"Seats": "0"').first().waitFor();
      await check();
      await page.getByRole('button', { name: 'Start import' }).click();
      await page.getByText('No new data: 1,500 of 1,500 existed already.').waitFor({ timeout: STEP_MS });
      await page
        .getByRole('navigation', { name: 'Breadcrumb' })
        .getByRole('link', { name: 'Imports' })
        .click();
      await expect.poll(() => page.getByRole('link', { name: 'customers.csv' }).count()).toBe(2);
      expect(pageErrors).toEqual([]);
    },
    3 * STEP_MS,
  );
});
