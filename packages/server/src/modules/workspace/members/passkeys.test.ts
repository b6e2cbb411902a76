import { beforeEach, describe, expect, test } from 'vitest';
import { authenticator } from '../../../../testing/factories/authenticator.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { assertionOptions, registerPasskey, registrationOptions, verifyAssertion } from './passkeys.ts';
import { upsertUser } from './store.ts';
import type { Caller, WithCookies } from './team.ts';

const ORIGIN = 'https://beckon.example';
const clock = fixedClock();
const db = await openTestDatabase(clock);
const deps = { db, origin: ORIGIN, cookieName: '__Host-beckon_passkey' };
const newMember = async (email: string) => {
  const at = new Date(clock.now());
  return { id: await upsertUser(db, { id: email, name: email, email, at }), email };
};
const ada = await newMember('ada@example.com');
const eve = await newMember('eve@example.com');

/** Returns a caller with the cookie that came with the options. */
const callerWith = ({ cookies: [cookie = ''] }: WithCookies<unknown>): Caller => ({
  headers: { cookie: cookie.slice(0, cookie.indexOf(';')) },
  address: '192.0.2.1',
});

type Key = ReturnType<typeof authenticator>;

async function register(key: Key, member = ada): Promise<void> {
  const options = await registrationOptions(deps, member);
  const response = key.register(options.result);
  await registerPasskey(deps, callerWith(options), { response, name: 'Laptop', userId: member.id });
}

const SIGN_IN = { ceremony: 'sign_in', userId: null } as const;

async function signIn(key: Key): Promise<string> {
  const options = await assertionOptions(deps, SIGN_IN);
  return verifyAssertion(deps, callerWith(options), { ...SIGN_IN, response: key.sign(options.result) });
}

let key: Key;
beforeEach(() => {
  key = authenticator({ origin: ORIGIN });
});

const refused = { code: 'validation_failed', details: [{ field: 'passkey' }] };
const gone = { code: 'conflict' };

describe('registrationOptions', () => {
  test('requires a discoverable passkey with user verification, and excludes those registered before', async () => {
    await register(key);
    const { result: answer, cookies } = await registrationOptions(deps, ada);
    expect(answer).toMatchObject({
      rp: { id: 'beckon.example', name: 'Beckon' },
      user: { name: ada.email },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      pubKeyCredParams: [{ alg: -8 }, { alg: -7 }, { alg: -257 }],
    });
    const { id } = key.register(answer);
    expect(answer.excludeCredentials).toContainEqual(expect.objectContaining({ id }));
    expect(cookies[0]).toMatch(
      /^__Host-beckon_passkey=[0-9A-Za-z]{32}; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  });
});

describe('registerPasskey', () => {
  test('refuses a passkey that did not verify its user', async () => {
    key.settings.verifiesUser = false;
    await expect(register(key)).rejects.toMatchObject(refused);
  });

  test('refuses a credential that is already registered', async () => {
    await register(key);
    await expect(register(key, eve)).rejects.toMatchObject(gone);
  });

  test('refuses a challenge that was issued to another member, or for a sign-in', async () => {
    for (const options of [await registrationOptions(deps, eve), await assertionOptions(deps, SIGN_IN)]) {
      const response = key.register(options.result);
      const registering = registerPasskey(deps, callerWith(options), {
        response,
        name: 'x',
        userId: ada.id,
      });
      await expect(registering).rejects.toMatchObject(gone);
    }
  });
});

describe('verifyAssertion', () => {
  test('returns the member whose passkey signed', async () => {
    await register(key, eve);
    expect(await signIn(key)).toBe(eve.id);
    expect(await signIn(key)).toBe(eve.id);
  });

  test('refuses a passkey that did not verify its user in this ceremony', async () => {
    await register(key);
    key.settings.verifiesUser = false;
    await expect(signIn(key)).rejects.toMatchObject(refused);
  });

  test('refuses an answer obtained by another origin', async () => {
    const foreignKey = authenticator({ origin: 'https://beckon.example.evil.test' });
    await expect(register(foreignKey)).rejects.toMatchObject(refused);
    await expect(register(authenticator({ origin: 'http://beckon.example' }))).rejects.toMatchObject(refused);
  });

  test('refuses a signature by an unknown passkey', async () => {
    await expect(signIn(key)).rejects.toMatchObject(refused);
  });

  test('refuses a counter that does not increase, as with a copied passkey', async () => {
    await register(key);
    expect(await signIn(key)).toBe(ada.id);
    key.settings.counts = false;
    await expect(signIn(key)).rejects.toMatchObject(refused);
  });

  test('accepts one of two concurrent answers with the same counter', async () => {
    await register(key);
    const first = await assertionOptions(deps, SIGN_IN);
    const second = await assertionOptions(deps, SIGN_IN);
    const firstResponse = key.sign(first.result);
    key.settings.counts = false;
    const two = key.sign(second.result);
    const results = await Promise.allSettled([
      verifyAssertion(deps, callerWith(first), { ...SIGN_IN, response: firstResponse }),
      verifyAssertion(deps, callerWith(second), { ...SIGN_IN, response: two }),
    ]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('accepts a challenge once, even if the first answer was wrong', async () => {
    await register(key);
    const options = await assertionOptions(deps, SIGN_IN);
    const right = { ...SIGN_IN, response: key.sign(options.result) };
    const wrong = { ...SIGN_IN, response: { ...right.response, id: 'unknown' } };
    await expect(verifyAssertion(deps, callerWith(options), wrong)).rejects.toMatchObject(refused);
    await expect(verifyAssertion(deps, callerWith(options), right)).rejects.toMatchObject(gone);
  });

  test('refuses a challenge after five minutes, and without its cookie', async () => {
    await register(key);
    const options = await assertionOptions(deps, SIGN_IN);
    const assertion = { ...SIGN_IN, response: key.sign(options.result) };
    await expect(verifyAssertion(deps, { headers: {}, address: '' }, assertion)).rejects.toMatchObject(gone);
    clock.advance(5 * 60_000);
    await expect(verifyAssertion(deps, callerWith(options), assertion)).rejects.toMatchObject(gone);
  });
});
