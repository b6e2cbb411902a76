import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Looks, newPerson, openBrowser } from './browser.ts';
import { OWNER } from './first-email.ts';
import { copyInstallation, type Installation, newInstallation } from './installation.ts';
import { madeOnce } from './made-once.ts';
import { type Session, sessionOf, signedIn } from './session.ts';
import { settled } from './walk.ts';

export type DemoInBrowser = {
  browser: Browser;
  installation: Installation;
  context: BrowserContext;
  page: Page;
  /** Errors that the page logged. */
  pageErrors: string[];
  session: Session;
  /** The owner's project, which is empty. */
  own: number;
  /** The demo project, in the owner's organization. */
  demo: number;
  /** Opens a screen of the demo and waits until its data is shown. */
  open: (screen: string, on?: Page) => Promise<void>;
  close: () => Promise<void>;
};

/** For `beforeAll` of a test that uses the demo: the first file of a run makes it, which takes a minute on a busy machine. */
export const DEMO_TIMEOUT_MS = 300_000;

/** An installation of its own with an empty project and the demo, whose owner is signed in. */
export async function demoInBrowser(looks: Looks = {}): Promise<DemoInBrowser> {
  const [browser, { dataDir, own, demo }] = await Promise.all([openBrowser(), sharedDemo()]);
  const installation = await copyInstallation(dataDir);
  const { context, page, pageErrors } = await newPerson(browser, looks);
  const session = sessionOf(context, installation);
  await session.request('POST', '/sign-in', OWNER);
  return {
    browser,
    installation,
    context,
    page,
    pageErrors,
    session,
    own,
    demo,
    async open(screen, on = page) {
      await on.goto(`${installation.url}/p/${demo}/${screen}`);
      await on.locator('h1').first().waitFor();
      await settled(on);
    },
    async close() {
      await browser.close();
      await installation.remove();
    },
  };
}

type Made = {
  /** The data of a stopped installation, to copy. */
  dataDir: string;
  own: number;
  demo: number;
};

/** Makes the demo once per run of the tests. */
function sharedDemo(): Promise<Made> {
  return madeOnce('demo', (folder) => makeDemo(join(folder, 'data')));
}

async function makeDemo(dataDir: string): Promise<Made> {
  const installation = await newInstallation();
  const browser = await openBrowser();
  try {
    const { context } = await newPerson(browser);
    const { projectId: own } = await signedIn(context, installation);
    const { id: demo } = await installation.command<{ id: number }>('demo');
    await installation.stop();
    await rename(installation.dataDir, dataDir);
    return { dataDir, own, demo };
  } finally {
    await browser.close();
    await installation.remove();
  }
}
