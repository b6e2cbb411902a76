import { expect, test } from 'vitest';
import type { AuditListed } from '@beckon/contract/dashboard';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { testProject } from '../../../../testing/servers/server.ts';
import { authenticator } from '../../../../testing/factories/authenticator.ts';
import { testSendServices } from '../../../../testing/factories/send-services.ts';
import { silentLog } from '../../../platform/log.ts';
import { alsoForPages } from '../../../../testing/factories/database.ts';
import { DASHBOARD_ORIGIN } from '../../../../testing/servers/dashboard.ts';
import { codeOf, PASSWORD, testTeam, tokenOf } from '../../../../testing/factories/team.ts';
import { offerReset, offerSetup } from '../members/links.ts';

const server = await endpointServer();
const { setUp, browser, team, emails, join } = testTeam(server);
const early = await testProject(server);
const lateLink = await offerSetup(server.db, DASHBOARD_ORIGIN);
const { ada, projectId } = await setUp();

const HTTPS = { publicOrigin: 'https://beckon.example', httpsOnly: true, isTrusted: () => false };

type Session = { member: { email: string; two_factor: boolean } | null; set_up: boolean };
const sessionOf = async (client: typeof ada): Promise<Session> =>
  (await client.request('GET /session')).json.data as Session;
const fieldOf = (response: { json: { errors: { field?: string; code: string }[] } }): unknown =>
  response.json.errors[0]?.field;
/** The emails with a link to a new password. */
const resets = () => emails.filter(({ text }) => text.includes('reset?token'));
const enter = (client: typeof ada, password = PASSWORD) =>
  client.request('POST /sign-in', { email: 'ada@x.org', password });

test('the tables match the schema of the sign-in library', async () => {
  await (await team.signIns()).checkTables();
});

test('set-up creates the first member, who owns an organization, its project and all earlier ones', async () => {
  const { json } = await ada.request('GET /session');
  expect(json.data).toMatchObject({
    set_up: true,
    member: { name: 'ada', email: 'ada@x.org', two_factor: false },
    organizations: [{ name: 'Acme', role: 'owner', requires_two_factor: false, wants_digest: true }],
    installation: { test_inbox: true, public_url: DASHBOARD_ORIGIN },
  });
  const listed = (await ada.request('GET /projects')).json.data as { id: number; role: string }[];
  // A command had created Acme before; the set-up uses it.
  expect(listed.map(({ id, role }) => [id, role])).toEqual([[early.id, 'owner']]);
  expect(projectId).toBe(early.id);
});

test('a set-up link works once, and none works once there is an owner', async () => {
  const late = browser();
  const body = {
    token: tokenOf(lateLink?.url ?? ''),
    email: 'eve@x.org',
    password: PASSWORD,
    project: 'Evil',
  };
  expect((await late.request('POST /setup', body)).status).toBe(409);
  expect((await late.request('POST /setup', { ...body, token: 'a'.repeat(43) })).status).toBe(404);
  expect(await offerSetup(server.db, DASHBOARD_ORIGIN)).toBeNull();
  expect((await sessionOf(late)).member).toBeNull();
  expect((await ada.request('GET /projects')).json.data).toHaveLength(1);
});

test('a correct password opens a session; a wrong one and an unknown address get the same answer', async () => {
  const client = browser();
  const wrong = await enter(client, 'wrong horse battery');
  const unknown = await client.request('POST /sign-in', { email: 'nobody@x.org', password: PASSWORD });
  expect([wrong.status, wrong.json.errors]).toEqual([422, unknown.json.errors]);
  expect(unknown.status).toBe(422);
  expect((await sessionOf(client)).member).toBeNull();
  expect((await enter(client)).json.data).toEqual({ signed_in: true, two_factor: false });
  expect((await sessionOf(client)).member?.email).toBe('ada@x.org');
  expect((await client.request('POST /sign-out')).status).toBe(200);
  expect((await sessionOf(client)).member).toBeNull();
});

test('the session is in a signed cookie that scripts cannot read and that stays on this host', async () => {
  const { headers } = await enter(browser());
  const [cookie] = [headers['set-cookie']].flat() as string[];
  expect(cookie).toMatch(/^beckon_session=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
  const thief = browser();
  const [row] = await server.db.query<{ token: string }>('SELECT token FROM beckon.team_session LIMIT 1');
  thief.cookies.set(
    'beckon_session',
    encodeURIComponent(`${row?.token}.${Buffer.alloc(32).toString('base64')}`),
  );
  expect((await sessionOf(thief)).member).toBeNull();
  thief.cookies.set('beckon_session', '%E0%A4%A');
  expect((await sessionOf(thief)).member).toBeNull();
});

test('over https the cookie belongs to this host alone, and is never sent in plain text', async () => {
  const https = testTeam(server, { publicOrigin: 'https://beckon.example', transport: HTTPS });
  const { status, headers } = await enter(https.browser());
  expect(status).toBe(200);
  const [cookie] = [headers['set-cookie']].flat() as string[];
  expect(cookie).toMatch(
    /^__Host-beckon_session=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
});

test('a request from another page neither signs in nor signs out', async () => {
  const headers = { origin: 'https://evil.example' };
  const client = browser();
  const body = { email: 'ada@x.org', password: PASSWORD };
  expect((await client.request('POST /sign-in', body, headers)).status).toBe(403);
  expect((await ada.request('POST /sign-out', undefined, headers)).status).toBe(403);
  expect((await sessionOf(ada)).member?.email).toBe('ada@x.org');
});

test('an API key is not a session, and a session is not an API key', async () => {
  const bearer = { authorization: `Bearer ${early.secret}` };
  expect((await browser(bearer).request('GET /projects')).status).toBe(401);
  const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${server.url}/api/v1/events`, {
    method: 'POST',
    headers: { cookie },
    body: '{}',
  });
  expect(response.status).toBe(401);
});

test('an ended session is refused on the next request', async () => {
  const other = browser({ 'user-agent': 'Old phone' });
  await enter(other);
  const sessions = (await ada.request('GET /sessions')).json.data as {
    id: string;
    user_agent: string | null;
    current: boolean;
  }[];
  const found = sessions.find(({ user_agent }) => user_agent === 'Old phone');
  expect(sessions.filter(({ current }) => current)).toHaveLength(1);
  expect((await ada.request(`POST /sessions/${found?.id}/end`)).json.data).toEqual({ ended: 1 });
  expect((await other.request('GET /projects')).status).toBe(401);
  expect((await ada.request(`POST /sessions/${found?.id}/end`)).status).toBe(404);
  await enter(other);
  await ada.request('POST /sessions/end-others');
  expect((await other.request('GET /projects')).status).toBe(401);
  expect((await ada.request('GET /projects')).status).toBe(200);
});

test('a session ends exactly thirty days after its last use', async () => {
  const client = browser();
  await enter(client);
  const age = (days: number) =>
    server.db.query(
      `UPDATE beckon.team_session SET expires_at = now() + interval '30 days' - interval '1 day' * $1::int,
         updated_at = now() - interval '1 day' * $1::int WHERE id = (SELECT id FROM beckon.team_session ORDER BY created_at DESC LIMIT 1)`,
      [days],
    );
  await age(20);
  expect([(await client.request('GET /session')).headers['set-cookie']].flat()[0]).toMatch(/Max-Age=2592000/);
  expect([(await client.request('GET /session')).headers['set-cookie']].flat()[0]).toBeUndefined();
  await age(31);
  expect((await client.request('GET /projects')).status).toBe(401);
});

test('a new password ends all other sessions, and the old password opens none', async () => {
  const [client, other] = [browser(), browser()];
  await enter(client);
  await enter(other);
  const wrong = await client.request('POST /password', {
    current: 'not it at all',
    new: 'another horse battery',
  });
  expect([wrong.status, fieldOf(wrong)]).toEqual([422, 'password']);
  const short = await client.request('POST /password', { current: PASSWORD, new: 'short' });
  expect([short.status, fieldOf(short)]).toEqual([422, 'new']);
  expect(
    (await client.request('POST /password', { current: PASSWORD, new: 'another horse battery' })).status,
  ).toBe(200);
  expect((await client.request('GET /projects')).status).toBe(200);
  expect((await other.request('GET /projects')).status).toBe(401);
  expect((await enter(browser())).status).toBe(422);
  await client.request('POST /password', { current: 'another horse battery', new: PASSWORD });
  await enter(ada);
});

test('a reset link is emailed, works once within an hour, and its request reveals no account', async () => {
  const client = browser();
  const existing = await client.request('POST /forgot', { email: 'Ada@x.org' });
  const unknown = await client.request('POST /forgot', { email: 'nobody@x.org' });
  expect([existing.status, existing.text]).toEqual([unknown.status, unknown.text]);
  await expect.poll(() => resets().length).toBe(1);
  const link =
    /http:\/\/localhost:8080\/reset\?token=3D(\w+)/.exec(
      resets()[0]?.text.replaceAll('=\r\n', '') ?? '',
    )?.[1] ?? '';
  expect([resets()[0]?.to, (await client.request(`GET /links?token=${link}`)).json.data]).toEqual([
    'ada@x.org',
    expect.objectContaining({ kind: 'reset', email: 'ada@x.org', has_account: true }),
  ]);
  expect((await client.request('POST /reset', { token: link, password: 'short' })).status).toBe(422);
  expect((await client.request('POST /reset', { token: link, password: PASSWORD })).status).toBe(200);
  expect((await client.request('POST /reset', { token: link, password: PASSWORD })).status).toBe(404);
  expect((await ada.request('GET /projects')).status).toBe(401);
  await enter(ada);
  await client.request('POST /forgot', { email: 'ada@x.org' });
  await expect.poll(() => resets().length).toBe(2);
  const late = /token=3D(\w+)/.exec(resets()[1]?.text.replaceAll('=\r\n', '') ?? '')?.[1] ?? '';
  server.clock.advance(3_600_001);
  expect((await client.request('POST /reset', { token: late, password: PASSWORD })).status).toBe(404);
});

test('a reset request invalidates no link of an operator, and none when email cannot be sent', async () => {
  const enough = 'a new horse battery';
  const byOperator = await offerReset(server.db, DASHBOARD_ORIGIN, { email: 'ada@x.org', by: 'operator' });
  const before = resets().length;
  await browser().request('POST /forgot', { email: 'ada@x.org' });
  await expect.poll(() => resets().length, { timeout: 20_000 }).toBe(before + 1);
  const warning = Promise.withResolvers<string>();
  const outlet = { kind: 'relay', publicUrl: DASHBOARD_ORIGIN, mailDomain: 'in.x.org' } as const;
  const mute = testTeam(server, {
    sendServices: testSendServices({ outlet }),
    log: { ...silentLog, warn: (_fields, event) => warning.resolve(event) },
  });
  await mute.browser().request('POST /forgot', { email: 'ada@x.org' });
  expect(await warning.promise).toBe('password_reset.not_emailed');
  const mailed = /token=3D(\w+)/.exec(resets().at(-1)?.text.replaceAll('=\r\n', '') ?? '')?.[1] ?? '';
  const good = async (token: string) => (await browser().request(`GET /links?token=${token}`)).status;
  expect([await good(mailed), await good(tokenOf(byOperator?.url ?? ''))]).toEqual([200, 200]);
  const body = { token: tokenOf(byOperator?.url ?? ''), password: enough };
  expect((await browser().request('POST /reset', body)).status).toBe(200);
  // The earlier link is invalid too, because the password that it was for has changed.
  expect(await good(mailed)).toBe(404);
  await ada.request('POST /sign-in', { email: 'ada@x.org', password: enough });
  await ada.request('POST /password', { current: enough, new: PASSWORD });
});

test('an authenticator app requires a code, and each backup code works once', async () => {
  const grace = await join(ada, { projectId, email: 'grace@x.org', role: 'editor' });
  expect((await grace.request('POST /two-factor/begin', { password: 'not it at all' })).status).toBe(422);
  const begun = (await grace.request('POST /two-factor/begin', { password: PASSWORD })).json.data as {
    uri: string;
    backup_codes: string[];
  };
  const again = browser();
  const credentials = { email: 'grace@x.org', password: PASSWORD };
  // The app is required only after the first correct code: a page closed before that locks no member out.
  expect((await again.request('POST /sign-in', credentials)).json.data).toEqual({
    signed_in: true,
    two_factor: false,
  });
  const wrong = await grace.request('POST /two-factor/confirm', { code: '000000' });
  expect([wrong.status, fieldOf(wrong)]).toEqual([422, 'code']);
  expect((await grace.request('POST /two-factor/confirm', { code: codeOf(begun.uri) })).status).toBe(200);
  expect((await sessionOf(grace)).member?.two_factor).toBe(true);

  const client = browser();
  expect((await client.request('POST /sign-in', credentials)).json.data).toEqual({
    signed_in: false,
    two_factor: true,
  });
  expect((await client.request('GET /projects')).status).toBe(401);
  expect((await client.request('POST /sign-in/totp', { code: '000000' })).status).toBe(422);
  expect((await client.request('POST /sign-in/totp', { code: codeOf(begun.uri) })).json.data).toEqual({
    signed_in: true,
    two_factor: false,
  });
  expect((await client.request('GET /projects')).status).toBe(200);

  const [code = ''] = begun.backup_codes;
  for (const expected of [200, 422]) {
    const two = browser();
    await two.request('POST /sign-in', credentials);
    expect((await two.request('POST /sign-in/backup-code', { code })).status).toBe(expected);
    expect((await two.request('GET /projects')).status).toBe(expected === 200 ? 200 : 401);
  }
  const fresh = (await grace.request('POST /two-factor/backup-codes', { password: PASSWORD })).json.data as {
    backup_codes: string[];
  };
  expect(fresh.backup_codes).toHaveLength(begun.backup_codes.length);
  const three = browser();
  await three.request('POST /sign-in', credentials);
  expect((await three.request('POST /sign-in/backup-code', { code: begun.backup_codes[1] })).status).toBe(
    422,
  );
  expect((await grace.request('POST /two-factor/end', { password: PASSWORD })).status).toBe(200);
  expect((await browser().request('POST /sign-in', credentials)).json.data).toMatchObject({
    signed_in: true,
  });
});

test('a code without the password before it signs in no member', async () => {
  const response = await browser().request('POST /sign-in/totp', { code: '123456' });
  expect([response.status, response.json.errors[0]?.code]).toEqual([409, 'conflict']);
});

test('a passkey signs in if it verified its user; others, unknown ones and replays do not', async () => {
  const key = authenticator({ origin: DASHBOARD_ORIGIN });
  const options = (await ada.request('POST /passkeys/options')).json.data as Record<string, unknown>;
  const added = await ada.request('POST /passkeys', { response: key.register(options), name: 'Laptop' });
  expect([added.status, added.json.data]).toEqual([200, expect.objectContaining({ name: 'Laptop' })]);

  const client = browser();
  const challenge = (await client.request('POST /sign-in/passkey-options')).json.data as Record<
    string,
    unknown
  >;
  const signed = key.sign(challenge);
  expect((await client.request('POST /sign-in/passkey', { response: signed })).json.data).toMatchObject({
    signed_in: true,
  });
  expect((await sessionOf(client)).member?.email).toBe('ada@x.org');
  const replayed = browser();
  await replayed.request('POST /sign-in/passkey-options');
  expect((await replayed.request('POST /sign-in/passkey', { response: signed })).status).toBe(422);

  const stranger = browser();
  const theirs = (await stranger.request('POST /sign-in/passkey-options')).json.data as Record<
    string,
    unknown
  >;
  const unknown = authenticator({ origin: DASHBOARD_ORIGIN }).sign(theirs);
  expect((await stranger.request('POST /sign-in/passkey', { response: unknown })).status).toBe(422);

  const lazy = authenticator({ origin: DASHBOARD_ORIGIN, verifiesUser: false });
  const more = (await ada.request('POST /passkeys/options')).json.data as Record<string, unknown>;
  await ada.request('POST /passkeys', { response: lazy.register(more), name: 'No PIN' });
  const touched = browser();
  const last = (await touched.request('POST /sign-in/passkey-options')).json.data as Record<string, unknown>;
  expect((await touched.request('POST /sign-in/passkey', { response: lazy.sign(last) })).status).toBe(422);

  const [{ id } = { id: '' }] = (await ada.request('GET /passkeys')).json.data as { id: string }[];
  expect((await ada.request(`POST /passkeys/${id}/delete`)).status).toBe(200);
  const gone = browser();
  const final = (await gone.request('POST /sign-in/passkey-options')).json.data as Record<string, unknown>;
  expect((await gone.request('POST /sign-in/passkey', { response: key.sign(final) })).status).toBe(422);
});

test('an invalid passkey response is rejected as invalid, before any lookup', async () => {
  const client = browser();
  for (const id of [undefined, null, 7, true, [], {}, '', 'a\0b', 'not base64', 'x'.repeat(2_000)]) {
    await client.request('POST /sign-in/passkey-options');
    const response = await client.request('POST /sign-in/passkey', { response: { id, response: {} } });
    expect([id, response.status, fieldOf(response)]).toEqual([id, 422, 'response.id']);
  }
  for (const more of [{}, { response: null }, { response: { clientDataJSON: [] } }]) {
    await client.request('POST /sign-in/passkey-options');
    const response = await client.request('POST /sign-in/passkey', { response: { id: 'abc', ...more } });
    expect([response.status, fieldOf(response)]).toEqual([422, 'passkey']);
    await ada.request('POST /passkeys/options');
    expect((await ada.request('POST /passkeys', { response: { id: [], ...more }, name: 'Odd' })).status).toBe(
      422,
    );
  }
});

test('password attempts are limited per account across processes, and allowed again later', async () => {
  const other = testTeam(server);
  for (let tries = 0; tries < 10; tries += 1) {
    const client = tries % 2 === 0 ? browser() : other.browser();
    expect((await enter(client, 'wrong horse battery')).status).toBe(422);
  }
  const refused = await enter(browser());
  expect([refused.status, refused.json.errors[0]?.code, refused.headers['retry-after']]).toEqual([
    429,
    'rate_limited',
    '900',
  ]);
  // Other members can sign in, and so can this one after a wait.
  expect(
    (await browser().request('POST /sign-in', { email: 'grace@x.org', password: PASSWORD })).status,
  ).toBe(200);
  server.clock.advance(15 * 60_000);
  expect((await enter(browser())).status).toBe(200);
});

/** Simulates forty-nine earlier attempts from each address, and returns the status of the next two requests. */
async function lastTwo(attempt: () => Promise<{ status: number }>): Promise<number[]> {
  await attempt();
  await server.db.query(`UPDATE beckon.team_attempt SET count = 49 WHERE key LIKE 'address%'`);
  return [(await attempt()).status, (await attempt()).status];
}

test('an address that tries account after account is limited too', async () => {
  const attempt = () => browser().request('POST /sign-in/totp', { code: '123456' });
  expect(await lastTwo(attempt)).toEqual([409, 429]);
  server.clock.advance(15 * 60_000);
});

test('an address over its limit can still join, and the audit entry is in the same commit', async () => {
  const made = await ada.request(`POST /projects/${projectId}/invites`, {
    email: 'joan@x.org',
    role: 'viewer',
  });
  const token = tokenOf((made.json.data as { link: string }).link);
  await server.db.query(`UPDATE beckon.team_attempt SET count = 49 WHERE key LIKE 'address%'`);
  // A process that is killed after the commit writes nothing more.
  const { db } = server;
  const killed = testTeam({
    ...server,
    db: alsoForPages(db, (base) => ({
      ...base,
      prepared: (query) =>
        query.name.startsWith('audit.') ? Promise.reject(new Error('killed')) : base.prepared(query),
    })),
  });
  const joan = killed.browser();
  const joined = await joan.request('POST /invites/accept', { token, name: 'Joan', password: PASSWORD });
  expect([joined.status, (await sessionOf(joan)).member?.email]).toEqual([200, 'joan@x.org']);
  server.clock.advance(15 * 60_000);
  const reset = await offerReset(db, DASHBOARD_ORIGIN, { email: 'joan@x.org', by: 'operator' });
  const body = { token: tokenOf(reset?.url ?? ''), password: 'a new horse battery' };
  expect((await killed.browser().request('POST /reset', body)).status).toBe(200);
  const log = (await ada.request(`GET /projects/${projectId}/audit?limit=200`)).json.data as AuditListed[];
  const ofJoan = log.filter(({ subject, actor_name: name }) => name === 'Joan' && subject === 'joan@x.org');
  expect(ofJoan.map(({ action }) => action).toSorted()).toEqual(['invite.accept', 'password.reset']);
});

test("passwords typed in a session are limited by session, without affecting the member's sign-in", async () => {
  const attempt = () => ada.request('POST /two-factor/end', { password: 'wrong horse battery' });
  const statuses: number[] = [];
  for (let at = 0; at < 12; at += 1) statuses.push((await attempt()).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 422), 429, 429]);
  expect((await ada.request('POST /confirm', { password: PASSWORD })).status).toBe(429);
  expect((await enter(browser())).status).toBe(200);
  server.clock.advance(15 * 60_000);
  expect((await ada.request('POST /confirm', { password: PASSWORD })).status).toBe(200);
});
