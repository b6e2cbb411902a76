import { expect, test } from 'vitest';
import type { DeviceAuthorization } from '@beckon/contract/dashboard';
import { authenticator } from '../../../../testing/factories/authenticator.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { type Browser, codeOf, PASSWORD, testTeam, tokenOf } from '../../../../testing/factories/team.ts';
import { offerReset, offerSetup } from '../members/links.ts';
import { resetPassword } from '../members/use-link.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { DASHBOARD_ORIGIN } from '../../../../testing/servers/dashboard.ts';

const server = await endpointServer();
const { db } = server;
const { browser, join, tokenFor } = testTeam(server);

const statuses = async (responses: Promise<{ status: number }>[]): Promise<number[]> =>
  (await Promise.all(responses)).map(({ status }) => status).toSorted((a, b) => a - b);
const rows = async (table: string): Promise<number> =>
  (await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM beckon.${table}`))[0]?.n ?? -1;

/** Two links, because each start of the server prints one. */
const links = [await offerSetup(db, DASHBOARD_ORIGIN), await offerSetup(db, DASHBOARD_ORIGIN)];
const [first = '', second = ''] = links.map((offered) => tokenOf(offered?.url ?? ''));

const ada = browser();
const mallory = browser();
const setUp = (client: Browser, token: string, email: string) =>
  client.request('POST /setup', { token, email, password: PASSWORD, project: 'Acme' });

test('concurrent set-ups, by one link or two, make only one owner', async () => {
  const attempts = [
    setUp(ada, first, 'ada@x.org'),
    setUp(mallory, first, 'mallory@x.org'),
    setUp(browser(), second, 'mallory@x.org'),
  ];
  const got = await statuses(attempts);
  expect(got.filter((status) => status === 200)).toHaveLength(1);
  expect(got.every((status) => [200, 404, 409].includes(status))).toBe(true);
  expect([await rows('team_organization'), await rows('team_member'), await rows('team_user')]).toEqual([
    1, 1, 1,
  ]);
  expect(await rows('project')).toBe(1);
});

/** Signs in with the address of any account. */
const enter = async (email: string): Promise<Browser> => {
  const client = browser();
  await client.request('POST /sign-in', { email, password: PASSWORD });
  return client;
};

async function owner(): Promise<{ client: Browser; projectId: number; email: string }> {
  const [user] = await db.query<{ email: string }>(
    `SELECT u.email FROM beckon.team_user u JOIN beckon.team_member m ON m.user_id = u.id WHERE m.role = 'owner' LIMIT 1`,
  );
  const client = await enter(user?.email ?? '');
  const [project] = (await client.request('GET /projects')).json.data as { id: number }[];
  return { client, projectId: project?.id ?? 0, email: user?.email ?? '' };
}

test('an invitation and a reset link work once, however many use them at once', async () => {
  const { client, projectId } = await owner();
  const made = await client.request(`POST /projects/${projectId}/invites`, {
    email: 'twin@x.org',
    role: 'viewer',
  });
  const token = tokenOf((made.json.data as { link: string }).link);
  const accept = () => browser().request('POST /invites/accept', { token, name: 'Twin', password: PASSWORD });
  expect(await statuses([accept(), accept(), accept()])).toEqual([200, 404, 404]);
  const offered = await offerReset(db, DASHBOARD_ORIGIN, { email: 'twin@x.org', by: 'operator' });
  const reset = (password: string) =>
    browser().request('POST /reset', { token: tokenOf(offered?.url ?? ''), password });
  expect(await statuses([reset('first horse battery'), reset('second horse battery')])).toEqual([200, 404]);
});

test('a link of one kind is invalid as any other kind', async () => {
  const { client, projectId } = await owner();
  const made = await client.request(`POST /projects/${projectId}/invites`, {
    email: 'kind@x.org',
    role: 'admin',
  });
  const token = tokenOf((made.json.data as { link: string }).link);
  expect((await browser().request('POST /reset', { token, password: PASSWORD })).status).toBe(404);
  expect((await setUp(browser(), token, 'kind@x.org')).status).toBe(404);
  // It is still valid for its own kind.
  expect(
    (await browser().request('POST /invites/accept', { token, name: 'Kind', password: PASSWORD })).status,
  ).toBe(200);
});

test('a sign-in replaces a session cookie that was planted in the browser', async () => {
  const { client, email } = await owner();
  const victim = browser();
  const planted = client.cookies.get('beckon_session') ?? '';
  victim.cookies.set('beckon_session', planted);
  await victim.request('POST /sign-in', { email, password: PASSWORD });
  expect(victim.cookies.get('beckon_session')).not.toBe(planted);
});

test('a change is accepted from this origin alone, and from none that resembles it', async () => {
  const { client } = await owner();
  const origins = [
    '',
    'null',
    'https://localhost:8080',
    'http://localhost',
    'http://localhost:80801',
    'http://evil.localhost:8080',
    'http://localhost:8080.evil.example',
    'http://localhost:8080/',
    'HTTP://LOCALHOST:8080',
  ];
  for (const origin of origins)
    expect([origin, (await client.request('POST /profile', { name: 'Eve' }, { origin })).status]).toEqual([
      origin,
      403,
    ]);
  expect(
    (await client.request('POST /sign-out', undefined, { origin: 'null', 'sec-fetch-site': 'same-origin' }))
      .status,
  ).toBe(403);
  expect((await client.request('GET /projects')).status).toBe(200);
});

async function withApp(email: string): Promise<{ client: Browser; uri: string; backup: string[] }> {
  const { client: by, projectId } = await owner();
  const client = await join(by, { projectId, email, role: 'editor' });
  const begun = await client.request('POST /two-factor/begin', { password: PASSWORD });
  const { uri, backup_codes: backup } = begun.json.data as { uri: string; backup_codes: string[] };
  return { client, uri, backup };
}

test('turning an authenticator app on ends sessions opened by password alone', async () => {
  const { client, uri } = await withApp('on@x.org');
  const thief = await enter('on@x.org');
  expect((await thief.request('GET /projects')).status).toBe(200);
  expect((await client.request('POST /two-factor/confirm', { code: codeOf(uri) })).status).toBe(200);
  expect((await client.request('GET /projects')).status).toBe(200);
  expect((await thief.request('GET /projects')).status).toBe(401);
});

test('an authenticator code and a backup code each sign in once, concurrently or later', async () => {
  const { client, uri, backup } = await withApp('codes@x.org');
  await client.request('POST /two-factor/confirm', { code: codeOf(uri) });
  const [a, b, late] = [await enter('codes@x.org'), await enter('codes@x.org'), await enter('codes@x.org')];
  const code = codeOf(uri);
  expect(await statuses([a, b].map((each) => each.request('POST /sign-in/totp', { code })))).toEqual([
    200, 422,
  ]);
  expect(await statuses([a, b].map((each) => each.request('GET /projects')))).toEqual([200, 401]);
  const replayed = await late.request('POST /sign-in/totp', { code });
  expect([replayed.status, replayed.json.errors[0]?.field]).toEqual([422, 'code']);
  expect((await late.request('GET /projects')).status).toBe(401);
  const [c, d] = [await enter('codes@x.org'), await enter('codes@x.org')];
  const spent = await Promise.all(
    [c, d].map((each) => each.request('POST /sign-in/backup-code', { code: backup[0] })),
  );
  expect(spent.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await statuses([c, d].map((each) => each.request('GET /projects')))).toEqual([200, 401]);
});

const passwordChanges = {
  reset: async (email: string): Promise<number> => {
    const offered = await offerReset(db, DASHBOARD_ORIGIN, { email, by: 'operator' });
    const body = { token: tokenOf(offered?.url ?? ''), password: 'a new horse battery' };
    return (await browser().request('POST /reset', body)).status;
  },
  change: async (_email: string, client: Browser): Promise<number> =>
    (await client.request('POST /password', { current: PASSWORD, new: 'a new horse battery' })).status,
};

test.each(['reset', 'change'] as const)(
  'a sign-in that waits for its code ends when the password changes: %s',
  async (method) => {
    const email = `waits-${method}@x.org`;
    const { client, uri } = await withApp(email);
    await client.request('POST /two-factor/confirm', { code: codeOf(uri) });
    const thief = await enter(email);
    expect(await passwordChanges[method](email, client)).toBe(200);
    expect((await thief.request('POST /sign-in/totp', { code: codeOf(uri) })).status).not.toBe(200);
    expect((await thief.request('GET /projects')).status).toBe(401);
  },
);

test('a new password by a link ends all access that another person may have created before', async () => {
  const { client: by, projectId } = await owner();
  const email = 'taken@x.org';
  const thief = await join(by, { projectId, email, role: 'admin' });
  const token = await tokenFor(thief, ['read']);
  const key = authenticator({ origin: DASHBOARD_ORIGIN });
  const options = (await thief.request('POST /passkeys/options')).json.data as Record<string, unknown>;
  expect(
    (await thief.request('POST /passkeys', { response: key.register(options), name: 'Mine' })).status,
  ).toBe(200);
  const program = browser({ origin: undefined });
  const begun = (await program.request('POST /device', { label: 'later', scopes: ['read'] })).json
    .data as DeviceAuthorization;
  await thief.request(`POST /device/${begun.user_code}/approve`, { scopes: ['read'] });
  expect(await passwordChanges.reset(email)).toBe(200);

  expect(
    (await browser({ origin: undefined, authorization: `Bearer ${token}` }).request('GET /token')).status,
  ).toBe(401);
  const fetched = await program.request('POST /device/token', { device_code: begun.device_code });
  expect(fetched.json.data).toEqual({ state: 'expired' });
  const again = browser();
  const assertionOptions = (await again.request('POST /sign-in/passkey-options')).json.data as Record<
    string,
    unknown
  >;
  expect(
    (await again.request('POST /sign-in/passkey', { response: key.sign(assertionOptions) })).status,
  ).toBe(422);
});

test('a sign-in by password fails while that password is being replaced', async () => {
  const { client: by, projectId } = await owner();
  await join(by, { projectId, email: 'races@x.org', role: 'viewer' });
  const { url } = (await offerReset(db, DASHBOARD_ORIGIN, { email: 'races@x.org', by: 'operator' })) ?? {};
  const thief = browser();
  const signing = await db.transaction(async (tx) => {
    // The old password is compared, and the session does not exist yet.
    await tx.query('LOCK TABLE beckon.team_session IN SHARE MODE');
    const pending = thief.request('POST /sign-in', { email: 'races@x.org', password: PASSWORD });
    await expect.poll(() => waitsFor('team_session'), { timeout: 20_000 }).toBe(true);
    const flow = { clock: db.clock, transaction: <T>(work: (tx: Tx) => Promise<T>) => work(tx) };
    const passwordHash = 'another';
    await resetPassword(flow, { token: tokenOf(url ?? ''), passwordHash }, () => Promise.resolve());
    return { asked: pending };
  });
  expect((await signing.asked).status).toBe(422);
  expect((await thief.request('GET /projects')).status).toBe(401);
});

async function waitsFor(table: string): Promise<boolean> {
  const waiting = await db.query(
    `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'beckon.${table}'::regclass`,
  );
  return waiting.length > 0;
}

test('the audit log contains no secrets', async () => {
  const { client, projectId } = await owner();
  const key = (await client.request(`POST /projects/${projectId}/keys`, { label: 'one' })).json.data as {
    secret: string;
  };
  const hook = (
    await client.request(`POST /projects/${projectId}/webhooks`, { url: 'https://hooks.acme.test/in' })
  ).json.data as { id: string; secret: string };
  const rotated = (await client.request(`POST /projects/${projectId}/webhooks/${hook.id}/rotate`, {})).json
    .data as {
    secret: string;
  };
  const app = await withApp('audit@x.org');
  await app.client.request('POST /password', { current: PASSWORD, new: 'yet another battery' });
  const secret = new URL(app.uri).searchParams.get('secret') ?? '';
  const [session = ''] = (client.cookies.get('beckon_session') ?? '').split('.');
  const secrets = [
    key.secret,
    hook.secret,
    rotated.secret,
    PASSWORD,
    'yet another battery',
    secret,
    session,
    ...app.backup,
  ];
  expect(secrets.every((text) => text.length > 5)).toBe(true);
  const found = await findText(db, secrets);
  // Sessions are better-auth's, in plain text; the cookie also carries our signature.
  expect(found.filter((column) => column !== 'team_session.token')).toEqual([]);
});
