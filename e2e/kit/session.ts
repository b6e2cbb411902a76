import type { BrowserContext } from 'playwright-core';
import { OWNER } from './first-email.ts';
import type { Installation } from './installation.ts';

/** Sends requests to the dashboard's own API, as the page in that browser would. */
export type Session = {
  request<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T>;
};

/** Sets up the installation without a page, for tests of later steps. The browser is signed in as its owner. */
export async function signedIn(
  context: BrowserContext,
  installation: Installation,
  timeZone = 'Europe/Berlin',
): Promise<Session & { projectId: number }> {
  const session = sessionOf(context, installation);
  const token = new URL(installation.setupLink).searchParams.get('token');
  const { data } = await session.request<{ data: { project_id: number } }>('POST', '/setup', {
    token,
    ...OWNER,
    project: 'Acme',
    time_zone: timeZone,
  });
  return { ...session, projectId: data.project_id };
}

export function sessionOf(context: BrowserContext, { url }: Pick<Installation, 'url'>): Session {
  return {
    async request(method, path, body) {
      const response = await context.request.fetch(`${url}/api/dashboard${path}`, {
        method,
        headers: { origin: url },
        ...(body ? { data: body } : {}),
      });
      if (!response.ok())
        throw new Error(`${method} ${path} answered ${response.status()}: ${await response.text()}`);
      return (await response.json()) as never;
    },
  };
}
