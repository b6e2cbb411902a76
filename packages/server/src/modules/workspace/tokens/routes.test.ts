import { beforeEach, describe, expect, test } from 'vitest';
import type {
  AuditListed,
  DeviceTokenResult,
  DeviceApproval,
  DeviceAuthorization,
  SessionState,
  SystemState,
  TokenListed,
  TokenScope,
  TokenState,
} from '@beckon/contract/dashboard';
import { sendRequest } from '../../../../testing/servers/http-client.ts';
import { DASHBOARD_ORIGIN } from '../../../../testing/servers/dashboard.ts';
import { HOUR, MINUTE } from '../../../../testing/factories/drafts.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { PEPPER } from '../../../../testing/servers/server.ts';
import { type Browser, PASSWORD, testTeam } from '../../../../testing/factories/team.ts';
import { silentLog } from '../../../platform/log.ts';
import { findHolder } from './find-holder.ts';

const server = await endpointServer();
const { db, clock } = server;
const { setUp, browser, join, tokenFor } = testTeam(server);
const { ada, projectId } = await setUp();
const program = (token?: string): Browser =>
  browser({ origin: undefined, authorization: token === undefined ? undefined : `Bearer ${token}` });
const DAY = 24 * HOUR;
const project = `/projects/${projectId}`;
// The windows of all limits have ended, and Ada has just confirmed who she is.
beforeEach(async () => {
  clock.advance(16 * MINUTE);
  await ada.request('POST /confirm', { password: PASSWORD });
});

async function begin(label = 'laptop', scopes = ['read', 'review']): Promise<DeviceAuthorization> {
  const { json, status, text } = await program().request('POST /device', { label, scopes });
  if (status !== 200) throw new Error(text);
  return json.data as DeviceAuthorization;
}

async function fetchToken({ device_code }: DeviceAuthorization): Promise<DeviceTokenResult> {
  return (await program().request('POST /device/token', { device_code })).json.data as DeviceTokenResult;
}

const listed = async (client: Browser): Promise<TokenListed[]> =>
  (await client.request('GET /profile/tokens')).json.data as TokenListed[];

test('a member approves a program after seeing its scopes, and it gets its token once', async () => {
  const begun = await begin('Ada’s laptop', ['review', 'read', 'import']);
  expect(begun.user_code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
  expect(begun.verification_url).toBe(`${DASHBOARD_ORIGIN}/device?code=${begun.user_code}`);
  expect(await fetchToken(begun)).toEqual({ state: 'waiting' });
  const typed = begun.user_code.replace('-', '').toLowerCase();
  const device = (await ada.request(`GET /device/${typed}`)).json.data as DeviceApproval;
  expect(device).toMatchObject({
    code: begun.user_code,
    label: 'Ada’s laptop',
    scopes: ['read', 'review', 'import'],
    address: '127.0.0.1',
    state: 'waiting',
  });
  // An unchecked scope is not granted, and one that was not requested cannot be.
  const approved = await ada.request(`POST /device/${typed}/approve`, { scopes: ['read', 'review'] });
  expect(approved.json.data).toMatchObject({ state: 'approved', scopes: ['read', 'review'] });
  const both = await Promise.all([fetchToken(begun), fetchToken(begun)]);
  expect(both.map(({ state }) => state).toSorted()).toEqual(['approved', 'expired']);
  const made = both.find((result) => result.state === 'approved');
  if (made?.state !== 'approved') throw new Error('no request got the token');
  expect(made.token).toMatch(/^bkp_[0-9A-Za-z]{40}$/);
  expect(made).toMatchObject({
    label: 'Ada’s laptop',
    scopes: ['read', 'review'],
    expires_at: new Date(clock.now() + 90 * DAY).toISOString(),
    member: { email: 'ada@x.org' },
    projects: [{ id: projectId, name: 'Acme' }],
  });
  const { token, state: _, ...tokenState } = made;
  expect((await program(token).request('GET /token')).json.data).toEqual(tokenState satisfies TokenState);
  expect((await ada.request(`GET /device/${typed}`)).json.data).toMatchObject({ state: 'used' });
  expect((await listed(ada))[0]).toMatchObject({
    label: 'Ada’s laptop',
    display: `bkp_…${token.slice(-4)}`,
    last_used_at: new Date(clock.now()).toISOString(),
    revoked_at: null,
  });
  expect(await findText(db, [token, begun.device_code, begun.user_code, typed])).toEqual([]);
});

test('a code is decided once, by the first member, and ends after ten minutes', async () => {
  const device = await begin();
  const other = await join(ada, { projectId, email: 'other@x.org', role: 'viewer' });
  const statuses = await Promise.all(
    [ada, other].map(
      async (client) => (await client.request(`POST /device/${device.user_code}/approve`)).status,
    ),
  );
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409]);
  const again = await ada.request(`POST /device/${device.user_code}/deny`);
  expect([again.status, again.json.errors]).toMatchObject([409, [{ code: 'conflict', field: 'code' }]]);
  const refused = await begin();
  expect((await ada.request(`POST /device/${refused.user_code}/deny`)).status).toBe(200);
  expect(await fetchToken(refused)).toEqual({ state: 'denied' });
  expect((await ada.request(`POST /device/${refused.user_code}/approve`)).status).toBe(409);
  const late = await begin();
  await ada.request(`POST /device/${late.user_code}/approve`);
  clock.advance(10 * MINUTE);
  expect(await fetchToken(late)).toEqual({ state: 'expired' });
  expect((await ada.request(`GET /device/${late.user_code}`)).status).toBe(404);
  expect(await fetchToken({ ...late, device_code: 'x'.repeat(40) })).toEqual({ state: 'expired' });
});

test('the label and scopes of a program must be readable', async () => {
  for (const body of [
    { label: '', scopes: ['read'] },
    { label: ' ', scopes: ['read'] },
    { label: 'a\u202Eb', scopes: ['read'] },
    { label: 'a\nb', scopes: ['read'] },
    { label: 'x'.repeat(101), scopes: ['read'] },
    { label: 'laptop', scopes: [] },
    { label: 'laptop', scopes: ['owner'] },
    { label: 'laptop' },
  ])
    expect([body, (await program().request('POST /device', body)).status]).toEqual([body, 422]);
  const nothing = await ada.request(`POST /device/${(await begin()).user_code}/approve`, { scopes: [] });
  expect([nothing.status, nothing.json.errors[0]?.field]).toEqual([422, 'scopes']);
  const unasked = await ada.request(`POST /device/${(await begin('one', ['read'])).user_code}/approve`, {
    scopes: ['import'],
  });
  expect([unasked.status, unasked.json.errors[0]?.field]).toEqual([422, 'scopes']);
});

test('guesses of codes and requests for codes are limited', async () => {
  const guesser = await join(ada, { projectId, email: 'guesser@x.org', role: 'viewer' });
  const guesses = Array.from({ length: 101 }, () => guesser.request('GET /device/BCDF-GHJK'));
  const guessed = (await Promise.all(guesses)).map(({ status }) => status);
  expect(guessed.filter((status) => status === 404)).toHaveLength(100);
  const [over] = (await Promise.all(guesses)).filter(({ status }) => status === 429);
  expect(Number(over?.headers['retry-after'])).toBeGreaterThan(0);
  // Another member with a valid code is not affected.
  expect((await ada.request(`GET /device/${(await begin()).user_code}`)).status).toBe(200);
  const responses = await Promise.all(
    Array.from({ length: 35 }, () => program().request('POST /device', { label: 'x', scopes: ['read'] })),
  );
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(29);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(6);
});

test('a token ends after 90 days and at once when revoked, even if it was just used', async () => {
  const [old, lost] = [await tokenFor(ada, ['read'], 'old'), await tokenFor(ada, ['read'], 'lost')];
  const opens = async (token: string): Promise<number> =>
    (await program(token).request(`GET ${project}/home`)).status;
  expect([await opens(old), await opens(lost)]).toEqual([200, 200]);
  const { id = '' } = (await listed(ada)).find(({ label }) => label === 'lost') ?? {};
  const stranger = await join(ada, { projectId, email: 'stranger@x.org', role: 'admin' });
  expect((await stranger.request(`POST /profile/tokens/${id}/revoke`)).status).toBe(404);
  expect((await ada.request(`POST /profile/tokens/${id}/revoke`)).status).toBe(200);
  expect([await opens(old), await opens(lost)]).toEqual([200, 401]);
  clock.advance(90 * DAY - 1);
  expect(await opens(old)).toBe(200);
  clock.advance(1);
  expect(await opens(old)).toBe(401);
  // A program ends its own token when it signs out.
  const token = await tokenFor(ada, ['read']);
  expect((await program(token).request('POST /token/revoke')).json.data).toEqual({ revoked: true });
  expect((await program(token).request('GET /token')).status).toBe(401);
});

test('a token has the current access of its member, and none once they left, even if they return', async () => {
  const bob = await join(ada, { projectId, email: 'bob@x.org', role: 'reviewer' });
  const token = await tokenFor(bob, ['read', 'review']);
  const approve = async () =>
    (await program(token).request(`POST ${project}/drafts/nothing/approve`, {})).status;
  expect(await approve()).toBe(404);
  const members = (await ada.request(`GET ${project}/members`)).json.data as { id: string; email: string }[];
  const { id } = members.find(({ email }) => email === 'bob@x.org') ?? { id: '' };
  await ada.request(`POST ${project}/members/${id}/role`, { role: 'viewer' });
  expect(await approve()).toBe(403);
  expect((await program(token).request(`GET ${project}/home`)).status).toBe(200);
  await ada.request(`POST ${project}/members/${id}/remove`);
  expect((await program(token).request('GET /token')).status).toBe(401);
  clock.advance(1);
  await join(ada, { projectId, email: 'bob@x.org', role: 'owner' });
  expect((await program(token).request('GET /token')).status).toBe(401);
});

describe('the role of a token', () => {
  const storageFor = async (client: Browser, scopes: TokenScope[]): Promise<boolean> => {
    const { json } = await program(await tokenFor(client, scopes)).request(`GET ${project}/system`);
    return (json.data as SystemState).storage !== null;
  };

  test('is the highest role of its scopes', async () => {
    expect(await storageFor(ada, ['read'])).toBe(false);
    expect(await storageFor(ada, ['read', 'edit', 'import'])).toBe(false);
    expect(await storageFor(ada, ['read', 'admin'])).toBe(true);
  });

  test('is never above the role of its member', async () => {
    const carol = await join(ada, { projectId, email: 'carol@x.org', role: 'editor' });
    expect(await storageFor(carol, ['read', 'admin'])).toBe(false);
    const token = program(await tokenFor(carol, ['read', 'edit', 'admin']));
    const tooLow = await token.request(`GET ${project}/keys`);
    expect(tooLow.json.errors).toMatchObject([{ code: 'role_required' }]);
    expect(tooLow.json.errors[0]?.message).toMatchInlineSnapshot(
      `"Your role is editor. This needs the role admin."`,
    );
    expect(
      (await token.request(`POST ${project}/invites`, { email: 'dan@x.org', role: 'viewer' })).status,
    ).toBe(403);
    expect((await token.request('POST /projects', { name: 'Mine' })).status).toBe(403);
  });

  test('lets an admin with the scope admin administer the organization, but not its owners', async () => {
    const erin = await join(ada, { projectId, email: 'erin@x.org', role: 'admin' });
    const token = program(await tokenFor(erin, ['admin']));
    const invited = await token.request(`POST ${project}/invites`, { email: 'dan@x.org', role: 'viewer' });
    expect(invited.status).toBe(200);
    const asOwner = await token.request(`POST ${project}/invites`, { email: 'dana@x.org', role: 'owner' });
    expect(asOwner.status).toBe(403);
    expect((await token.request(`POST ${project}/organization`, { name: 'Mine' })).status).toBe(403);
    expect((await token.request('POST /projects', { name: 'Second' })).status).toBe(200);
    const reading = program(await tokenFor(erin, ['read']));
    const refused = await reading.request(`GET ${project}/members`);
    expect([refused.status, refused.json.errors]).toMatchObject([403, [{ code: 'role_required' }]]);
    expect(refused.json.errors[0]?.message).toMatchInlineSnapshot(
      `"This token lacks the scope admin. Run beckon login and select it."`,
    );
  });
});

test('a token lists and revokes the tokens of its member, and no other', async () => {
  const token = program(await tokenFor(ada, ['read', 'edit'], 'one'));
  await tokenFor(ada, ['read'], 'two');
  const mine = await listed(token);
  expect(mine.map(({ label }) => label)).toEqual(expect.arrayContaining(['one', 'two']));
  const { id = '' } = mine.find(({ label }) => label === 'two') ?? {};
  const frank = await join(ada, { projectId, email: 'frank@x.org', role: 'owner' });
  const theirs = program(await tokenFor(frank, ['read', 'edit', 'admin']));
  expect((await theirs.request(`POST /profile/tokens/${id}/revoke`)).status).toBe(404);
  expect((await token.request(`POST /profile/tokens/${id}/revoke`)).status).toBe(200);
  const reading = program(await tokenFor(ada, ['read']));
  expect((await reading.request(`POST /profile/tokens/${id}/revoke`)).status).toBe(403);
});

test('a token takes precedence over cookies, sets none, and no other key is accepted as one', async () => {
  const viewer = await join(ada, { projectId, email: 'looks@x.org', role: 'viewer' });
  const authorization = `Bearer ${await tokenFor(viewer, ['read', 'review'])}`;
  // Ada is an owner; the request has the access of the token's member.
  const keys = await ada.request(`GET ${project}/keys`, undefined, { authorization });
  expect(keys.status).toBe(403);
  expect((await ada.request(`GET ${project}/home`, undefined, { authorization: 'Basic YTpi' })).status).toBe(
    200,
  );
  for (const wrong of [
    'Bearer sk_live_0000000000000000000000000000000000000000',
    'Bearer bkp_0000000000000000000000000000000000000000',
    'bearer bkp_',
    'Bearer ',
    `${authorization} ${authorization}`,
  ])
    for (const what of ['GET /projects', `GET ${project}/home`, 'POST /profile'])
      expect([wrong, (await ada.request(what, undefined, { authorization: wrong })).status]).toEqual([
        wrong,
        401,
      ]);
  const session = await ada.request('GET /session', undefined, { authorization });
  expect((session.json.data as SessionState).member).toBe(null);
  for (const response of [session, keys, await ada.request('GET /token', undefined, { authorization })])
    expect(response.headers['set-cookie']).toBe(undefined);
  // A page cannot send a token, so the origin proves nothing; and a session has no token.
  const foreign = { authorization, origin: 'https://evil.example' };
  expect((await browser().request(`POST ${project}/drafts/nothing/approve`, {}, foreign)).status).toBe(403);
  expect((await ada.request('GET /token')).status).toBe(404);
  const [, token = ''] = authorization.split(' ');
  const sent = { 'Content-Type': 'application/json', Authorization: authorization };
  const response = await sendRequest(server.url, {
    method: 'POST',
    path: '/api/v1/events',
    headers: sent,
    body: '{}',
  });
  expect([token.startsWith('bkp_'), response.status]).toEqual([true, 401]);
});

test('a page of another origin cannot request a code', async () => {
  const page = browser({ origin: 'https://evil.example' });
  expect((await page.request('POST /device', { label: 'x', scopes: ['read'] })).status).toBe(403);
  expect((await page.request('POST /device/token', { device_code: 'x' })).status).toBe(403);
});

test("an action by token is audited under its member, with the token's label", async () => {
  const begun = await begin('build server', ['review']);
  await ada.request(`POST /device/${begun.user_code}/approve`);
  clock.advance(1);
  const made = await fetchToken(begun);
  clock.advance(1);
  if (made.state !== 'approved') throw new Error(made.state);
  const drafts = (await program(made.token).request(`POST ${project}/webhook-replays`, { since: 'never' }))
    .status;
  expect(drafts).toBe(422);
  await program(made.token).request('POST /token/revoke');
  const log = (await ada.request(`GET ${project}/audit`)).json.data as AuditListed[];
  // The approval may need a confirmation first, which has the same time here.
  const ofToken = log.filter(({ action }) => action.startsWith('token.'));
  expect(
    ofToken.slice(0, 3).map(({ actor_name, action, subject, token }) => [actor_name, action, subject, token]),
  ).toEqual([
    ['ada', 'token.revoke', 'build server', 'build server'],
    ['ada', 'token.create', 'build server', null],
    ['ada', 'token.approve', 'build server', null],
  ]);
});

test('a token hashed with the previous secret is valid, and is hashed again on use', async () => {
  const token = await tokenFor(ada, ['read']);
  const next = Buffer.alloc(32, 9);
  const holder = (current: Buffer, previous: Buffer | null) =>
    findHolder({ db, log: silentLog, pepper: { current, previous } }, token);
  expect(await holder(next, null)).toBe(null);
  expect((await holder(next, PEPPER))?.member.email).toBe('ada@x.org');
  expect((await holder(next, null))?.scopes).toEqual(['read']);
});

test('a member without a required authenticator app cannot approve a program', async () => {
  const begun = await begin();
  await db.query('UPDATE beckon.team_organization SET requires_two_factor = true');
  const { status, json } = await ada.request(`POST /device/${begun.user_code}/approve`);
  expect([status, json.errors[0]?.message]).toEqual([403, expect.stringContaining('authenticator app')]);
  await db.query('UPDATE beckon.team_organization SET requires_two_factor = false');
  expect((await ada.request(`POST /device/${begun.user_code}/approve`)).status).toBe(200);
});
