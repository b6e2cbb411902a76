import type { PasskeyListed } from '@beckon/contract/dashboard';
import {
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { randomUUID } from 'node:crypto';
import { cookieLine, readCookie } from './cookies.ts';
import { advanceCounter, insertChallenge, insertPasskey, takeChallengeValue } from './auth-store.ts';
import { type CredentialRow, findCredential, listCredentials } from './reads.ts';
import type { Caller, WithCookies } from './team.ts';
import { randomBase62, sha256 } from '../../../platform/crypto/hash.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';

/** `origin`: the URL of the dashboard. Its host name is the relying party to which passkeys are bound. */
export type PasskeyDeps = ChallengeDeps & { origin: string };

/** Ed25519, ES256, RS256. The library would also offer ML-DSA, which Node.js implements only experimentally. */
const ALGORITHMS = [-8, -7, -257];

type Options = Record<string, unknown>;
type AuthenticatorResponse = Record<string, unknown>;

/** Returns the options for `navigator.credentials.create`. The authenticator has to verify its user by PIN, fingerprint or face. */
export async function registrationOptions(
  deps: PasskeyDeps,
  { id: userId, email }: { id: string; email: string },
): Promise<WithCookies<Options>> {
  const credentials = await listCredentials(deps.db, userId);
  const options = await generateRegistrationOptions({
    rpName: 'Beckon',
    rpID: hostOf(deps),
    userName: email,
    userDisplayName: email,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: credentials.map(({ credentialId: id, transports }) => ({
      id,
      transports: transportsOf(transports),
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const cookie = await issueChallenge(deps, options.challenge, { ceremony: 'registration', userId });
  return { result: { ...options }, cookies: [cookie] };
}

export async function registerPasskey(
  deps: PasskeyDeps,
  caller: Caller,
  { response, name, userId }: { response: AuthenticatorResponse; name: string; userId: string },
): Promise<PasskeyListed> {
  const challenge = await takeChallenge(deps, caller, { ceremony: 'registration', userId });
  const { credential } = await verifiedRegistration(deps, { challenge, response });
  const made = { id: randomUUID(), name, createdAt: new Date(deps.db.clock.now()) };
  const isNew = await insertPasskey(deps.db, {
    ...made,
    userId,
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64'),
    counter: credential.counter,
    transports: (credential.transports ?? []).join(','),
  });
  if (isNew) return { id: made.id, name, created_at: made.createdAt.toISOString() };
  throw new Fault('conflict', { details: [{ message: 'This passkey is already registered' }] });
}

/** Returns the options for `navigator.credentials.get`. `userId`: only the passkeys of this member; null: any passkey of the browser. */
export async function assertionOptions(
  deps: PasskeyDeps,
  { ceremony, userId }: { ceremony: Ceremony; userId: string | null },
): Promise<WithCookies<Options>> {
  const credentials = userId === null ? [] : await listCredentials(deps.db, userId);
  const options = await generateAuthenticationOptions({
    rpID: hostOf(deps),
    userVerification: 'required',
    allowCredentials: credentials.map(({ credentialId: id, transports }) => ({
      id,
      transports: transportsOf(transports),
    })),
  });
  const cookie = await issueChallenge(deps, options.challenge, { ceremony, userId });
  return { result: { ...options }, cookies: [cookie] };
}

/** Returns the id of the member whose passkey signed the challenge. A passkey that did not verify its user is refused. */
export async function verifyAssertion(
  deps: PasskeyDeps,
  caller: Caller,
  {
    ceremony,
    userId,
    response,
  }: { ceremony: Ceremony; userId: string | null; response: AuthenticatorResponse },
): Promise<string> {
  const challenge = await takeChallenge(deps, caller, { ceremony, userId });
  const passkey = typeof response.id === 'string' ? await findCredential(deps.db, response.id) : undefined;
  if (!passkey || (userId !== null && passkey.userId !== userId)) throw unknownPasskey();
  const counter = await verifiedCounter(deps, { challenge, response, passkey });
  if (!(await advanceCounter(deps.db, { id: passkey.id, counter }))) throw unknownPasskey();
  return passkey.userId;
}

type VerificationInput = { challenge: string; response: AuthenticatorResponse };

async function verifiedRegistration(deps: PasskeyDeps, { challenge, response }: VerificationInput) {
  const { registrationInfo } = await orRefuse(() =>
    verifyRegistrationResponse({
      response: response as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: deps.origin,
      expectedRPID: hostOf(deps),
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  );
  if (!registrationInfo) throw notVerified();
  return registrationInfo;
}

async function verifiedCounter(
  deps: PasskeyDeps,
  { challenge, response, passkey }: VerificationInput & { passkey: CredentialRow },
): Promise<number> {
  const { verified, authenticationInfo } = await orRefuse(() =>
    verifyAuthenticationResponse({
      response: response as unknown as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: deps.origin,
      expectedRPID: hostOf(deps),
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, 'base64')),
        counter: passkey.counter,
        transports: transportsOf(passkey.transports),
      },
    }),
  );
  if (!verified) throw notVerified();
  return authenticationInfo.newCounter;
}

/** The library throws a plain error for every kind of invalid answer. */
async function orRefuse<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    throw notVerified(error);
  }
}

function hostOf({ origin }: PasskeyDeps): string {
  return new URL(origin).hostname;
}

function transportsOf(stored: string | null): AuthenticatorTransport[] {
  return (stored ?? '').split(',').filter((name) => name !== '') as AuthenticatorTransport[];
}

function unknownPasskey(): Fault {
  const message = 'This passkey is not registered here.';
  return new Fault('validation_failed', { details: [{ message, field: 'passkey' }] });
}

function notVerified(cause?: unknown): Fault {
  const message = 'The passkey could not be verified.';
  return new Fault('validation_failed', { details: [{ message, field: 'passkey' }], cause });
}

/** The purpose of a challenge. An answer to one ceremony is not accepted in another. */
type Ceremony = 'registration' | 'sign_in' | 'confirmation';

type ChallengeDeps = { db: Pick<Database, 'query' | 'prepared' | 'clock'>; cookieName: string };

/** `userId`: the member it was issued to, or null before sign-in. */
type Purpose = { ceremony: Ceremony; userId: string | null };

const VALID_FOR_S = 5 * 60;
const TOKEN_CHARS = 32;

/** Returns the cookie that ties the challenge to this browser. The database holds only the hash of its value. */
async function issueChallenge(
  { db, cookieName }: ChallengeDeps,
  challenge: string,
  purpose: Purpose,
): Promise<string> {
  const [token, now] = [randomBase62(TOKEN_CHARS), db.clock.now()];
  await insertChallenge(db, {
    id: randomUUID(),
    identifier: identifierOf(token),
    value: JSON.stringify({ ...purpose, challenge }),
    at: new Date(now),
    expiresAt: new Date(now + VALID_FOR_S * 1_000),
  });
  return cookieLine({ name: cookieName, value: token, maxAgeS: VALID_FOR_S });
}

/** Each challenge is valid for five minutes and for one answer, right or wrong. */
async function takeChallenge(
  { db, cookieName }: ChallengeDeps,
  { headers }: Caller,
  { ceremony, userId }: Purpose,
): Promise<string> {
  const token = readCookie(headers, cookieName);
  if (token === null) throw expired();
  const key = { identifier: identifierOf(token), now: new Date(db.clock.now()) };
  const value = await takeChallengeValue(db, key);
  if (value === null) throw expired();
  const issued = JSON.parse(value) as Purpose & { challenge: string };
  if (issued.ceremony !== ceremony || issued.userId !== userId) throw expired();
  return issued.challenge;
}

function identifierOf(token: string): string {
  return `passkey ${sha256(token)}`;
}

function expired(): Fault {
  const message = 'This request expired or was already answered. Start again.';
  return new Fault('conflict', { details: [{ message }] });
}
