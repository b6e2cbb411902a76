import type { Page } from 'playwright-core';
import { newPerson, openBrowser } from './browser.ts';
import { type Installation, newInstallation } from './installation.ts';
import { type CustomerServer, serverWith } from './public-api.ts';
import { type Session, signedIn } from './session.ts';

export type OwnerInBrowser = {
  url: string;
  installation: Installation;
  page: Page;
  /** Errors that the page logged. */
  pageErrors: string[];
  session: Session;
  projectId: number;
  /** The path of the project in the dashboard API. */
  project: string;
  /** Sends users and events with a key of the project. */
  post: CustomerServer;
  close: () => Promise<void>;
};

/** An installation whose owner is signed in, and a customer's server that sends to its project. */
export async function ownerInBrowser(): Promise<OwnerInBrowser> {
  const browser = await openBrowser();
  const installation = await newInstallation();
  const { page, pageErrors, context } = await newPerson(browser);
  const { projectId, ...session } = await signedIn(context, installation);
  const project = `/projects/${projectId}`;
  type Made = { data: { secret: string } };
  const { data } = await session.request<Made>('POST', `${project}/keys`, { label: 'Server' });
  return {
    url: installation.url,
    installation,
    page,
    pageErrors,
    session,
    projectId,
    project,
    post: serverWith(data.secret, installation),
    async close() {
      await browser.close();
      await installation.remove();
    },
  };
}
