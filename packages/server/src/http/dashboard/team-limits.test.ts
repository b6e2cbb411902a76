import { beforeEach, describe, expect, test } from 'vitest';
import type { DeviceBegun } from '@beckon/contract/dashboard';
import { DASHBOARD_ORIGIN } from '../../../testkit/dashboard.ts';
import { endpointServer } from '../../../testkit/endpoint-server.ts';
import { PEPPER } from '../../../testkit/server.ts';
import { testTeam } from '../../../testkit/team.ts';
import { beginDevice } from '../../features/tokens/index.ts';
import { transportRules } from '../transport.ts';

/** Behind a proxy on this machine, so that a request can come from anywhere. */
const server = await endpointServer();
const { db } = server;
const transport = transportRules({ publicUrl: DASHBOARD_ORIGIN, trustProxy: ['127.0.0.1'] });
const { browser, setUp } = testTeam(server, { transport });
await setUp();
beforeEach(() => db.query('DELETE FROM beckon.team_attempt'));

async function ask(what: string, { from, body = {} }: { from: string; body?: unknown }): Promise<number> {
  return (await browser({ 'x-forwarded-for': from }).ask(what, body)).status;
}

/** From one address after the other, `times` in all. */
async function askAll(
  what: string,
  { from, times, body }: { from: (at: number) => string; times: number; body?: unknown },
): Promise<number[]> {
  const got: number[] = [];
  for (let at = 0; at < times; at += 1) got.push(await ask(what, { from: from(at), body }));
  return got;
}

const refused = (statuses: number[]): number => statuses.filter((status) => status === 429).length;
const program = { label: 'laptop', scopes: ['read'] };

describe('POST /device', () => {
  const waiting = async (): Promise<number> =>
    (await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM beckon.team_device`))[0]?.n ?? -1;
  const begin = async (from: string): Promise<DeviceBegun> =>
    (await browser({ 'x-forwarded-for': from }).ask('POST /device', program)).json.data as DeviceBegun;
  const stateOf = async ({ device_code }: DeviceBegun): Promise<unknown> =>
    (await browser({ 'x-forwarded-for': '192.0.2.1' }).ask('POST /device/token', { device_code })).json.data;
  beforeEach(() => db.query('DELETE FROM beckon.team_device'));

  test('returns 429 from the 31st request of one address, and 200 to every other address', async () => {
    const one = await askAll('POST /device', { from: () => '10.0.0.1', times: 40, body: program });
    expect(refused(one)).toBe(10);
    expect(await ask('POST /device', { from: '10.0.0.2', body: program })).toBe(200);
  });

  test('keeps an earlier and a later login alive while 40 networks of IPv6 ask 1,050 times', async () => {
    const network = (at: number): string => `2001:db8:1:${(at % 40).toString(16)}::1`;
    const before = await begin('203.0.113.7');
    const device = { tx: db, pepper: PEPPER, now: db.clock.now() };
    for (let at = 0; at < 950; at += 1) await beginDevice(device, { ...program, address: network(at) });
    const flood = await askAll('POST /device', { from: network, times: 100, body: program });
    expect(refused(flood)).toBe(0);
    expect(await waiting()).toBeLessThanOrEqual(1_000);
    const after = await begin('2001:db8:1:ffff::7');
    expect(await stateOf(before)).toEqual({ state: 'waiting' });
    expect(await stateOf(after)).toEqual({ state: 'waiting' });
  });
});

test('who is over the bound of their address locks no account', async () => {
  const tries = (email: string) => ({
    from: '10.0.0.1',
    body: { email, password: 'wrong, and long enough' },
  });
  await askAll('POST /sign-in/totp', { from: () => '10.0.0.1', times: 50, body: { code: '000000' } });
  for (let at = 0; at < 11; at += 1) expect(await ask('POST /sign-in', tries('ada@x.org'))).toBe(429);
  expect(await ask('POST /sign-in', { ...tries('ada@x.org'), from: '10.0.0.2' })).toBe(422);
});

test('all of one network of IPv6 is one address, however many it has', async () => {
  const code = { code: '000000' };
  const from = (at: number): string => `2001:db8:0:1::${(at + 1).toString(16)}`;
  expect(refused(await askAll('POST /sign-in/totp', { from, times: 52, body: code }))).toBe(2);
  expect(await ask('POST /sign-in/totp', { from: '2001:db8:0:2::1', body: code })).not.toBe(429);
  expect(refused(await askAll('POST /device', { from, times: 32, body: program }))).toBe(2);
});

test('passkeys that are asked for and never shown leave a bounded number of rows, and none in the end', async () => {
  const options = 'POST /sign-in/passkey-options';
  const rows = async (): Promise<number> =>
    (await db.query<{ n: number }>('SELECT count(*)::int AS n FROM beckon.team_verification'))[0]?.n ?? -1;
  expect(refused(await askAll(options, { from: () => '10.0.0.1', times: 302 }))).toBe(2);
  expect(await rows()).toBe(300);
  await db.query(`UPDATE beckon.team_verification SET expires_at = $1`, [new Date(db.clock.now() - 1)]);
  await askAll(options, { from: (at) => `10.0.1.${at}`, times: 3 });
  expect(await rows()).toBe(3);
});
