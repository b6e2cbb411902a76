import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../kit/browser.ts';
import { DEMO_TIMEOUT_MS, type DemoInBrowser, demoInBrowser } from '../kit/demo.ts';
import { screenOf, screensOf } from '../kit/screens.ts';
import { scriptBytes } from '../kit/script-bytes.ts';

const SCRIPT_MAX_BYTES = 250_000;

describe.skipIf(!hasBrowser)('first load of a screen', () => {
  let owner: DemoInBrowser;
  beforeAll(async () => {
    owner = await demoInBrowser();
  }, DEMO_TIMEOUT_MS);
  afterAll(() => owner.close());

  test('receives at most 250 kB of script until the heading and the data are shown', async () => {
    const { browser, context, session, installation, demo } = owner;
    const storageState = await context.storageState();
    const tooLarge: Record<string, number> = {};
    for (const path of await screensOf(session, demo)) {
      // A context of its own has an empty cache.
      const visitor = await browser.newContext({ storageState });
      const bytes = await scriptBytes(await visitor.newPage(), installation.url + path);
      if (bytes > SCRIPT_MAX_BYTES) tooLarge[screenOf(path)] = bytes;
      await visitor.close();
    }
    expect(tooLarge).toEqual({});
  }, 300_000);
});
