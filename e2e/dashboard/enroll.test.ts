import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasBrowser } from '../kit/browser.ts';
import { type OwnerInBrowser, ownerInBrowser } from '../kit/owner-in-browser.ts';
import type { CustomerServer } from '../kit/public-api.ts';
import type { Session } from '../kit/session.ts';

describe.skipIf(!hasBrowser)('enrolling audience members in Chromium', () => {
  let owner: OwnerInBrowser;
  let page: Page;
  let session: Session;
  let project: string;
  let post: CustomerServer;
  beforeAll(async () => {
    owner = await ownerInBrowser();
    ({ page, session, project, post } = owner);
  }, 120_000);
  afterAll(() => owner.close());

  /** An audience of two users, one of them without an email address. */
  async function audienceOfTwo(): Promise<string> {
    await post('users', {
      external_user_id: 'ada',
      email: 'ada@example.com',
      traits: { name: 'Ada', plan: 'pro' },
    });
    await post('users', { external_user_id: 'bob', traits: { plan: 'pro' } });
    type Audience = { data: { id: string; state: string; members: number } };
    const definition = { trait: 'plan', equals: 'pro' };
    const { data } = await session.request<Audience>('POST', `${project}/audiences`, {
      name: 'Pros',
      definition,
    });
    await vi.waitFor(
      async () => {
        const found = await session.request<Audience>('GET', `${project}/audiences/${data.id}`);
        expect(found.data).toMatchObject({ state: 'ready', members: 2 });
      },
      { timeout: 20_000 },
    );
    return data.id;
  }

  test('previews and enrolls the members when a rule is enabled, and offers it again on the page of the rule', async () => {
    const audience = await audienceOfTwo();
    const document = {
      name: 'Pro welcome',
      when: { audience, move: 'joined' },
      steps: [{ draft: { subject: 'Welcome to Pro', body: 'Hello.' } }],
    };
    await session.request('POST', `${project}/rules`, { document });
    await page.goto(`${owner.url}/p/${owner.projectId}/rules/Pro%20welcome`);

    await page.getByRole('button', { name: 'Enable…' }).click();
    const enabling = page.getByRole('dialog', { name: 'Enable Pro welcome' });
    const enroll = enabling.getByRole('switch', { name: 'Also enroll the 2 users who are in “Pros” now' });
    await enroll.waitFor();
    expect(await enroll.isChecked()).toBe(false);
    await enroll.check();
    await enabling.getByText('1 of 2 users in “Pros” would be enrolled.').waitFor();
    await enabling.getByRole('link', { name: 'Ada ada' }).waitFor();
    await enabling.getByText('1: an enrollment found no email address for this user').waitFor();
    await enabling.getByRole('button', { name: 'Enable', exact: true }).click();

    await page.getByText('Members enrolled').waitFor();
    await page.getByText('2 of 2 members processed, 1 enrolled.').waitFor();

    await page.getByRole('button', { name: 'Enroll members…' }).click();
    const enrolling = page.getByRole('dialog', { name: 'Enroll members in Pro welcome?' });
    await enrolling.getByText('0 of 2 users in “Pros” would be enrolled.').waitFor();
    await enrolling.getByText('1: the user was already enrolled with the same key').waitFor();
    expect(await enrolling.getByRole('button', { name: 'Enroll 0 users' }).isDisabled()).toBe(true);
    await enrolling.getByRole('button', { name: 'Cancel' }).click();

    await page
      .getByRole('link', { name: /^Review/ })
      .first()
      .click();
    await page.getByText('Welcome to Pro').first().waitFor();
    expect(owner.pageErrors).toEqual([]);
  });
});
