import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditListed, DeviceAuthorization, TokenState } from '@beckon/contract/dashboard';
import { authenticator } from '../../../../testing/factories/authenticator.ts';
import { DASHBOARD_ORIGIN } from '../../../../testing/servers/dashboard.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { type Browser, codeOf, PASSWORD, testTeam, tokenOf } from '../../../../testing/factories/team.ts';
import { offerReset } from '../members/links.ts';

const MINUTE_MS = 60_000;
const WRONG = 'wrong horse battery';
const NEW_PASSWORD = 'another horse battery';

const server = await endpointServer();
const { db, clock } = server;
const { setUp, browser, join, tokenFor, emails } = testTeam(server);
const { ada, projectId } = await setUp();
let members = 0;
const newMember = async (): Promise<{ client: Browser; email: string }> => {
  members += 1;
  const email = `member-${members}@x.org`;
  const client = await join(ada, { projectId, email, role: 'editor' });
  // Without the email of their invitation.
  emails.length = 0;
  return { client, email };
};
beforeEach(() => {
  clock.advance(16 * MINUTE_MS);
  emails.length = 0;
});

type Options = Record<string, unknown>;
const program = browser({ origin: undefined });
const beginDevice = async (): Promise<DeviceAuthorization> =>
  (await program.request('POST /device', { label: 'laptop', scopes: ['read'] })).json
    .data as DeviceAuthorization;
const optionsFrom = async (client: Browser, path = '/passkeys/options'): Promise<Options> =>
  (await client.request(`POST ${path}`)).json.data as Options;
const addPasskey = async (client: Browser, name = 'Laptop') => {
  const key = authenticator({ origin: DASHBOARD_ORIGIN });
  const response = key.register(await optionsFrom(client));
  expect((await client.request('POST /passkeys', { response, name })).status).toBe(200);
  return key;
};
const refusal = ({ status, json }: Awaited<ReturnType<Browser['request']>>) => [
  status,
  json.errors[0]?.code,
  json.errors[0]?.field,
];
const NEEDED = [403, 'confirmation_required', undefined];

describe('a session older than ten minutes', () => {
  test('adds no passkey and approves no program until its member confirms', async () => {
    const { client } = await newMember();
    const key = authenticator({ origin: DASHBOARD_ORIGIN });
    const response = key.register(await optionsFrom(client));
    const { user_code: code } = await beginDevice();
    clock.advance(9 * MINUTE_MS);
    expect((await client.request('POST /passkeys/options')).status).toBe(200);
    clock.advance(MINUTE_MS);
    expect(refusal(await client.request('POST /passkeys/options'))).toEqual(NEEDED);
    expect(refusal(await client.request('POST /passkeys', { response, name: 'Laptop' }))).toEqual(NEEDED);
    const late = (await beginDevice()).user_code;
    expect(refusal(await client.request(`POST /device/${late}/approve`))).toEqual(NEEDED);
    expect((await client.request('GET /passkeys')).json.data).toEqual([]);

    expect((await client.request('POST /confirm', { password: PASSWORD })).json.data).toEqual({
      confirmed: true,
    });
    await addPasskey(client);
    expect((await client.request(`POST /device/${late}/approve`)).status).toBe(200);
    expect((await client.request(`POST /device/${code}/deny`)).status).toBe(404);
  });

  test('is not confirmed by being used, by another session or by a confirmation that failed', async () => {
    const { client, email } = await newMember();
    clock.advance(11 * MINUTE_MS);
    await client.request('GET /session');
    const other = browser();
    await other.request('POST /sign-in', { email, password: PASSWORD });
    expect(refusal(await client.request('POST /confirm', { password: WRONG }))).toEqual([
      422,
      'validation_failed',
      'password',
    ]);
    expect(refusal(await client.request('POST /passkeys/options'))).toEqual(NEEDED);
    expect((await other.request('POST /passkeys/options')).status).toBe(200);
  });
});

describe('POST /confirm', () => {
  test('requires a code as well with an authenticator app, and accepts each code once', async () => {
    const { client } = await newMember();
    const begun = await client.request('POST /two-factor/begin', { password: PASSWORD });
    const { uri, backup_codes: backup } = begun.json.data as { uri: string; backup_codes: string[] };
    await client.request('POST /two-factor/confirm', { code: codeOf(uri) });
    clock.advance(11 * MINUTE_MS);
    const confirm = (code?: string) =>
      client.request('POST /confirm', { password: PASSWORD, ...(code ? { code } : {}) });
    const noCode = [422, 'validation_failed', 'code'];
    expect(refusal(await confirm())).toEqual(noCode);
    expect(refusal(await confirm('000000'))).toEqual(noCode);
    expect(refusal(await confirm('abcde-fghij'))).toEqual(noCode);
    expect(refusal(await client.request('POST /passkeys/options'))).toEqual(NEEDED);
    const code = codeOf(uri, Date.now() + 30_000);
    expect((await confirm(code)).status).toBe(200);
    expect(refusal(await confirm(code))).toEqual(noCode);
    expect((await client.request('POST /passkeys/options')).status).toBe(200);
    clock.advance(11 * MINUTE_MS);
    expect((await confirm(backup[0])).status).toBe(200);
    expect(refusal(await confirm(backup[0]))).toEqual(noCode);
  });

  test('is in the audit log, without the typed values', async () => {
    const { client, email } = await newMember();
    await client.request('POST /confirm', { password: PASSWORD });
    const log = (await ada.request(`GET /projects/${projectId}/audit?limit=200`)).json.data as AuditListed[];
    expect(log.filter(({ subject }) => subject === email).map(({ action }) => action)).toContain(
      'session.confirm',
    );
    expect(await findText(db, [PASSWORD])).toEqual([]);
  });
});

describe('POST /confirm/passkey', () => {
  const confirmWith = async (client: Browser, key: ReturnType<typeof authenticator>) =>
    client.request('POST /confirm/passkey', {
      response: key.sign(await optionsFrom(client, '/confirm/passkey-options')),
    });

  test('confirms by a passkey of the member, and refuses that of another', async () => {
    const { client } = await newMember();
    const key = await addPasskey(client);
    const other = await newMember();
    const strange = await addPasskey(other.client);
    clock.advance(11 * MINUTE_MS);
    expect(refusal(await confirmWith(client, strange))).toEqual([422, 'validation_failed', 'passkey']);
    expect(refusal(await client.request('POST /passkeys/options'))).toEqual(NEEDED);
    expect((await confirmWith(client, key)).json.data).toEqual({ confirmed: true });
    expect((await client.request('POST /passkeys/options')).status).toBe(200);
  });

  test('rejects a response to a sign-in challenge', async () => {
    const { client } = await newMember();
    const key = await addPasskey(client);
    const response = key.sign(await optionsFrom(client, '/sign-in/passkey-options'));
    expect(refusal(await client.request('POST /confirm/passkey', { response }))).toEqual([
      409,
      'conflict',
      undefined,
    ]);
  });
});

describe('POST /password', () => {
  const opens = async (token: string): Promise<number> =>
    (await browser({ origin: undefined, authorization: `Bearer ${token}` }).request('GET /token')).status;
  const signsIn = async (key: ReturnType<typeof authenticator>): Promise<number> => {
    const client = browser();
    const response = key.sign(await optionsFrom(client, '/sign-in/passkey-options'));
    return (await client.request('POST /sign-in/passkey', { response })).status;
  };

  test('ends passkeys, tokens and waiting programs, unless the request says not to', async () => {
    for (const [body, stays] of [
      [{}, false],
      [{ end_passkeys_and_tokens: true }, false],
      [{ end_passkeys_and_tokens: false }, true],
    ] as const) {
      const { client } = await newMember();
      const [token, key] = [await tokenFor(client, ['read']), await addPasskey(client)];
      const begun = await beginDevice();
      await client.request(`POST /device/${begun.user_code}/approve`);
      const changed = await client.request('POST /password', {
        current: PASSWORD,
        new: NEW_PASSWORD,
        ...body,
      });
      expect(changed.status).toBe(200);
      expect([body, await opens(token), await signsIn(key)]).toEqual([
        body,
        ...(stays ? [200, 200] : [401, 422]),
      ]);
      const fetched = await program.request('POST /device/token', { device_code: begun.device_code });
      expect((fetched.json.data as TokenState & { state: string }).state).toBe(
        stays ? 'approved' : 'expired',
      );
    }
  });

  test('invalidates the earlier cookie of this session in every browser', async () => {
    const { client } = await newMember();
    const thief = browser();
    thief.cookies.set('beckon_session', client.cookies.get('beckon_session') ?? '');
    expect((await thief.request('GET /projects')).status).toBe(200);
    await client.request('POST /password', { current: PASSWORD, new: NEW_PASSWORD });
    expect((await thief.request('GET /projects')).status).toBe(401);
    expect((await client.request('GET /projects')).status).toBe(200);
  });

  test('succeeds for one of two concurrent changes', async () => {
    const { client } = await newMember();
    const change = (password: string) =>
      client.request('POST /password', { current: PASSWORD, new: password });
    const both = await Promise.all([change('first horse battery'), change('second horse battery')]);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('emails about a changed account', () => {
  /** Quoted-printable, and in lines of 76 characters. */
  const textOf = (mime = ''): string =>
    mime
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const mailed = async (to: string): Promise<string> => {
    await expect
      .poll(() => emails.filter((sentEmail) => sentEmail.to === to).length, { timeout: 10_000 })
      .toBe(1);
    const text = textOf(emails.find((sentEmail) => sentEmail.to === to)?.text);
    emails.length = 0;
    return text;
  };

  test('say what changed, when and from where, and what to do about it', async () => {
    const { client, email } = await newMember();
    await addPasskey(client, 'Blue key');
    const added = await mailed(email);
    expect(added).toContain('Subject: A passkey was added to your Beckon account');
    for (const words of ['"Blue key"', email, '127.0.0.1', new Date(clock.now()).toISOString().slice(0, 10)])
      expect(added).toContain(words);
    expect(added).toContain('I forgot my password');
    expect(added).toContain(`${DASHBOARD_ORIGIN}/sign-in`);

    const { user_code: code } = await beginDevice();
    await client.request(`POST /device/${code}/approve`);
    const approved = await mailed(email);
    expect(approved).toContain('The program "laptop" was approved');
    expect(approved).not.toContain(code);

    await client.request('POST /password', { current: PASSWORD, new: NEW_PASSWORD });
    expect(await mailed(email)).toContain('All passkeys and personal tokens ended too.');
  });

  test('are sent for the authenticator app, its backup codes and a password set by a link, and hold no secret', async () => {
    const { client, email } = await newMember();
    const begun = await client.request('POST /two-factor/begin', { password: PASSWORD });
    const { uri } = begun.json.data as { uri: string };
    await client.request('POST /two-factor/confirm', { code: codeOf(uri) });
    expect(await mailed(email)).toContain('An authenticator app was set up');
    const codes = await client.request('POST /two-factor/backup-codes', { password: PASSWORD });
    const replaced = await mailed(email);
    expect(replaced).toContain('New backup codes were created');
    for (const backup of (codes.json.data as { backup_codes: string[] }).backup_codes)
      expect(replaced).not.toContain(backup);
    await client.request('POST /two-factor/end', { password: PASSWORD });
    expect(await mailed(email)).toContain('The authenticator app was removed');
    const offered = await offerReset(db, DASHBOARD_ORIGIN, { email, by: 'operator' });
    const token = tokenOf(offered?.url ?? '');
    expect((await browser().request('POST /reset', { token, password: NEW_PASSWORD })).status).toBe(200);
    const reset = await mailed(email);
    expect(reset).toContain('was set through a link');
    expect([reset.includes(token), reset.includes(NEW_PASSWORD)]).toEqual([false, false]);
  });

  test('make no link of an address in a name', async () => {
    const { client, email } = await newMember();
    await addPasskey(client, 'see https://evil.example');
    expect(await mailed(email)).not.toContain('https://evil');
  });
});
