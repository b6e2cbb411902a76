import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { seeFirstEmail, setUp, zoneWhereItIs } from '../kit/first-email.ts';
import { newInstallation } from '../kit/installation.ts';

const ACTIONS_MAX = 12;

describe.skipIf(!hasBrowser)('first email in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  test.each([
    ['by day', 10],
    ['by night', 23],
  ])(
    `reaches the first email in the test inbox from an empty directory in ${ACTIONS_MAX} actions, %s`,
    async (_, hour) => {
      const installation = await newInstallation();
      onTestFinished(() => installation.remove());
      const { page, pageErrors } = await newPerson(browser, { timeZone: zoneWhereItIs(hour) });
      const actions = await setUp(page, installation);
      await seeFirstEmail(page, actions);
      process.stdout.write(`${hour}:00: ${actions.log.length} actions: ${actions.log.join(', ')}\n`);
      expect(actions.log.length).toBeLessThanOrEqual(ACTIONS_MAX);
      expect(pageErrors).toEqual([]);
    },
  );
});
