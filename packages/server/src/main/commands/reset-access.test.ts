import { describe, expect, test } from 'vitest';
import { DASHBOARD_ORIGIN } from '../../../testing/servers/dashboard.ts';
import { endpointServer } from '../../../testing/servers/endpoint-server.ts';
import { serverCommand } from '../../../testing/servers/server-command.ts';
import { codeOf, PASSWORD, testTeam, tokenOf } from '../../../testing/factories/team.ts';

const server = await endpointServer();
const { browser } = testTeam(server);
const NEW_PASSWORD = 'a new battery horse';

const run = (...args: string[]) => serverCommand({ db: server.db }, ['reset-access', ...args]);
async function linkFor(...args: string[]): Promise<string> {
  const { json, err } = await run(...args, '--json');
  if (err !== '') throw new Error(err);
  return tokenOf((json as { url: string }).url);
}
async function resetPassword(token: string): Promise<void> {
  await browser().request('POST /reset', { token, password: NEW_PASSWORD });
}
const signIn = async (email: string, password = NEW_PASSWORD): Promise<unknown> =>
  (await browser().request('POST /sign-in', { email, password })).json.data;
const ada = browser();

describe('reset-access', () => {
  test('prints the setup link of a new installation, and refuses it once there is an owner', async () => {
    expect((await run('ada@x.org', '--owner')).err).toContain('No organization exists yet');
    expect((await run()).out).toMatch(
      new RegExp(`^${DASHBOARD_ORIGIN}/setup\\?token=\\w{43}\n\nThe link works once`),
    );
    const body = { email: 'ada@x.org', password: PASSWORD, project: 'Acme' };
    expect((await ada.request('POST /setup', { ...body, token: await linkFor() })).status).toBe(200);
    const refused = await run();
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('already has an owner')]);
  });

  test('lets a member set a password, and keeps two-factor authentication by default', async () => {
    await ada.request('POST /sign-in', { email: 'ada@x.org', password: PASSWORD });
    const begun = await ada.request('POST /two-factor/begin', { password: PASSWORD });
    await ada.request('POST /two-factor/confirm', { code: codeOf((begun.json.data as { uri: string }).uri) });
    await resetPassword(await linkFor('ada@x.org'));
    expect(await signIn('ada@x.org')).toEqual({ signed_in: false, two_factor: true });
    await resetPassword(await linkFor('Ada@x.org', '--without-two-factor'));
    expect(await signIn('ada@x.org')).toEqual({ signed_in: true, two_factor: false });
  });

  test('refuses an address that is not a member', async () => {
    expect(await run('no@x.org')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Pass --owner') as string,
    });
    expect(await run('no address')).toMatchObject({ code: 1 });
  });

  test('makes a new or a known account an owner, and writes to the audit log', async () => {
    server.clock.advance(1);
    const edda = browser();
    const token = await linkFor('edda@x.org', '--owner');
    await edda.request('POST /invites/accept', { token, name: 'Edda', password: PASSWORD });
    const projects = (await edda.request('GET /projects')).json.data as { id: number; role: string }[];
    expect(projects).toMatchObject([{ role: 'owner' }]);
    const log = (await edda.request(`GET /projects/${projects[0]?.id}/audit?actor=operator`)).json.data;
    expect(log).toMatchObject([
      { action: 'team.recover', subject: 'edda@x.org', actor_name: 'Operator' },
      { action: 'password.reset_link', subject: 'ada@x.org' },
      { action: 'password.reset_link', subject: 'ada@x.org' },
    ]);
    await ada.request('POST /sign-in', { email: 'ada@x.org', password: NEW_PASSWORD });
    const people = (await ada.request(`GET /projects/${projects[0]?.id}/members`)).json.data as {
      id: string;
      email: string;
    }[];
    const id = people.find(({ email }) => email === 'edda@x.org')?.id;
    await ada.request(`POST /projects/${projects[0]?.id}/members/${id}/role`, { role: 'viewer' });
    await resetPassword(await linkFor('edda@x.org', '--owner'));
    await edda.request('POST /sign-in', { email: 'edda@x.org', password: NEW_PASSWORD });
    expect((await edda.request('GET /projects')).json.data).toMatchObject([{ role: 'owner' }]);
  });
});
