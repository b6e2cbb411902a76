import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPerson, openBrowser } from '../kit/browser.ts';
import { seeFirstLetter, setUp, zoneWhereItIs } from '../kit/first-letter.ts';
import { newInstallation } from '../kit/installation.ts';

const ACTIONS_MAX = 12;

describe.skipIf(!hasBrowser)('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  test.each([
    ['by day', 10],
    ['by night', 23],
  ])(
    `from an empty directory to the first letter in the outbox in ${ACTIONS_MAX} actions, %s`,
    async (_, hour) => {
      const installation = await newInstallation();
      onTestFinished(() => installation.remove());
      const { page, troubles } = await newPerson(browser, { timeZone: zoneWhereItIs(hour) });
      const actions = await setUp(page, installation);
      await seeFirstLetter(page, actions);
      process.stdout.write(`${hour}:00: ${actions.done.length} actions: ${actions.done.join(', ')}\n`);
      expect(actions.done.length).toBeLessThanOrEqual(ACTIONS_MAX);
      expect(troubles).toEqual([]);
    },
  );
});
