import { beforeEach, describe, expect, test } from 'vitest';
import type { DeviceAuthorization } from '@beckon/contract/dashboard';
import { DASHBOARD_ORIGIN } from '../../../../testing/servers/dashboard.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { PEPPER } from '../../../../testing/servers/server.ts';
import { type Browser, codeOf, PASSWORD, testTeam } from '../../../../testing/factories/team.ts';
import { beginDevice } from '../tokens/device.ts';
import { transportRules } from '../../../platform/http/transport.ts';

/** Behind a proxy on this machine, so that a request can come from anywhere. */
const server = await endpointServer();
const { db } = server;
const transport = transportRules({ publicUrl: DASHBOARD_ORIGIN, trustProxy: ['127.0.0.1'] });
const { browser, setUp, join } = testTeam(server, { transport });
const { ada, projectId } = await setUp();
beforeEach(() => db.query('DELETE FROM beckon.team_attempt'));

async function send(what: string, { from, body = {} }: { from: string; body?: unknown }): Promise<number> {
  return (await browser({ 'x-forwarded-for': from }).request(what, body)).status;
}

/** Sends `times` requests, each from the next address. */
async function sendAll(
  what: string,
  { from, times, body }: { from: (at: number) => string; times: number; body?: unknown },
): Promise<number[]> {
  const got: number[] = [];
  for (let at = 0; at < times; at += 1) got.push(await send(what, { from: from(at), body }));
  return got;
}

const refused = (statuses: number[]): number => statuses.filter((status) => status === 429).length;
const program = { label: 'laptop', scopes: ['read'] };

describe('POST /device', () => {
  const waiting = async (): Promise<number> =>
    (await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM beckon.team_device`))[0]?.n ?? -1;
  const begin = async (from: string): Promise<DeviceAuthorization> =>
    (await browser({ 'x-forwarded-for': from }).request('POST /device', program)).json
      .data as DeviceAuthorization;
  const stateOf = async ({ device_code }: DeviceAuthorization): Promise<unknown> =>
    (await browser({ 'x-forwarded-for': '192.0.2.1' }).request('POST /device/token', { device_code })).json
      .data;
  beforeEach(() => db.query('DELETE FROM beckon.team_device'));

  test('returns 429 from the 31st request of one address, and 200 to every other address', async () => {
    const statuses = await sendAll('POST /device', { from: () => '10.0.0.1', times: 40, body: program });
    expect(refused(statuses)).toBe(10);
    expect(await send('POST /device', { from: '10.0.0.2', body: program })).toBe(200);
  });

  test('keeps an earlier and a later login valid while 40 IPv6 networks send 1,050 requests', async () => {
    const network = (at: number): string => `2001:db8:1:${(at % 40).toString(16)}::1`;
    const before = await begin('203.0.113.7');
    const device = { tx: db, pepper: PEPPER, now: db.clock.now() };
    for (let at = 0; at < 950; at += 1) await beginDevice(device, { ...program, address: network(at) });
    const flood = await sendAll('POST /device', { from: network, times: 100, body: program });
    expect(refused(flood)).toBe(0);
    expect(await waiting()).toBeLessThanOrEqual(1_000);
    const after = await begin('2001:db8:1:ffff::7');
    expect(await stateOf(before)).toEqual({ state: 'waiting' });
    expect(await stateOf(after)).toEqual({ state: 'waiting' });
  });
});

test('an address over its limit locks no account', async () => {
  const tries = (email: string) => ({
    from: '10.0.0.1',
    body: { email, password: 'wrong, and long enough' },
  });
  await sendAll('POST /sign-in/totp', { from: () => '10.0.0.1', times: 50, body: { code: '000000' } });
  for (let at = 0; at < 11; at += 1) expect(await send('POST /sign-in', tries('ada@x.org'))).toBe(429);
  expect(await send('POST /sign-in', { ...tries('ada@x.org'), from: '10.0.0.2' })).toBe(422);
});

test('one IPv6 network counts as one address, however many it has', async () => {
  const code = { code: '000000' };
  const from = (at: number): string => `2001:db8:0:1::${(at + 1).toString(16)}`;
  expect(refused(await sendAll('POST /sign-in/totp', { from, times: 52, body: code }))).toBe(2);
  expect(await send('POST /sign-in/totp', { from: '2001:db8:0:2::1', body: code })).not.toBe(429);
  expect(refused(await sendAll('POST /device', { from, times: 32, body: program }))).toBe(2);
});

test('unused passkey challenges leave a bounded number of rows, and none in the end', async () => {
  const options = 'POST /sign-in/passkey-options';
  const rows = async (): Promise<number> =>
    (await db.query<{ n: number }>('SELECT count(*)::int AS n FROM beckon.team_verification'))[0]?.n ?? -1;
  expect(refused(await sendAll(options, { from: () => '10.0.0.1', times: 302 }))).toBe(2);
  expect(await rows()).toBe(300);
  await db.query(`UPDATE beckon.team_verification SET expires_at = $1`, [new Date(db.clock.now() - 1)]);
  await sendAll(options, { from: (at) => `10.0.1.${at}`, times: 3 });
  expect(await rows()).toBe(3);
});

describe('sign-in limits', () => {
  const WRONG = 'wrong, and long enough';
  const signIn = async (client: Browser, { from, password = PASSWORD, email = 'ada@x.org' }: SignInAttempt) =>
    (await client.request('POST /sign-in', { email, password }, { 'x-forwarded-for': from })).status;
  type SignInAttempt = { from: string; password?: string; email?: string };

  test('lock no member out of an account whose password one network has guessed at', async () => {
    for (let at = 0; at < 12; at += 1)
      expect(await signIn(browser(), { from: '10.0.0.1', password: WRONG })).toBe(at < 10 ? 422 : 429);
    expect(await signIn(browser(), { from: '10.0.0.1' })).toBe(429);
    expect(await signIn(browser(), { from: '10.0.0.2' })).toBe(200);
  });

  test('let a browser in that signed in before, even when every network is over its limit', async () => {
    const laptop = browser();
    expect(await signIn(laptop, { from: '10.0.0.9' })).toBe(200);
    await laptop.request('POST /sign-out', undefined, { 'x-forwarded-for': '10.0.0.9' });
    expect(await signIn(browser(), { from: '10.0.1.1', password: WRONG })).toBe(422);
    // As after ninety-nine more, from ten networks.
    await db.query(
      `UPDATE beckon.team_attempt SET count = 100 WHERE key ~ '^password account [0-9a-f]{64}$'`,
    );
    expect(await signIn(browser(), { from: '10.0.2.1' })).toBe(429);
    expect(await signIn(laptop, { from: '10.0.1.1', password: WRONG })).toBe(422);
    expect(await signIn(laptop, { from: '10.0.1.1' })).toBe(200);
    // The cookie is bound to the account.
    expect(await signIn(laptop, { from: '10.0.1.1', email: 'nobody@x.org' })).toBe(422);
    const other = await join(ada, { projectId, email: 'other@x.org', role: 'viewer' });
    expect(await signIn(other, { from: '10.0.2.2' })).toBe(429);
  });

  test('limit the codes that someone with the password tries, and lock its owner out of no other network', async () => {
    const grace = await join(ada, { projectId, email: 'grace@x.org', role: 'viewer' });
    const begun = await grace.request('POST /two-factor/begin', { password: PASSWORD });
    const { uri } = begun.json.data as { uri: string };
    await grace.request('POST /two-factor/confirm', { code: codeOf(uri) });
    const code = async (client: Browser, { from, value }: { from: string; value: string }) => {
      await signIn(client, { from, email: 'grace@x.org' });
      return (await client.request('POST /sign-in/totp', { code: value }, { 'x-forwarded-for': from }))
        .status;
    };
    for (let at = 0; at < 7; at += 1)
      expect(await code(browser(), { from: '10.0.0.1', value: '000000' })).toBe(at < 5 ? 422 : 429);
    const next = codeOf(uri, Date.now() + 30_000);
    expect(await code(browser(), { from: '10.0.0.1', value: next })).toBe(429);
    expect(await code(browser(), { from: '10.0.0.2', value: next })).toBe(200);
  });

  test('keep a new password by email open to other networks', async () => {
    const forgot = (from: string) => send('POST /forgot', { from, body: { email: 'ada@x.org' } });
    const statuses = [];
    for (let at = 0; at < 6; at += 1) statuses.push(await forgot('10.0.0.1'));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await forgot('10.0.0.2')).toBe(200);
  });
});
