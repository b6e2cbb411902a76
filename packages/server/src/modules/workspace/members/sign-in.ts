import { APIError } from 'better-auth/api';
import { Fault } from '../../../platform/fault.ts';
import type { Database } from '../../../platform/db/database.ts';
import {
  type AuthAttempt,
  type AttemptKind,
  countAddress,
  countAttempt,
  countPasskey,
  forgiveAddress,
  forgiveAttempt,
  spendCode,
} from './attempts.ts';
import { ADDRESS_HEADER, type Auth } from './auth.ts';
import { readSignedCookie } from './cookies.ts';
import { knownBrowserId, type KnownBrowsers, rememberBrowser } from './known-browser.ts';
import { assertionOptions, type PasskeyDeps, verifyAssertion } from './passkeys.ts';
import { findPassword, findPasswordOf, findSecondFactorUser, type Password } from './reads.ts';
import { type SessionCookie, sessionCookie, startSession } from './sessions.ts';
import { deleteSessionByToken } from './auth-store.ts';
import { deleteChallenges, deleteOldChallenges } from './store.ts';
import { type Caller, PASSWORD_MIN_CHARS, type SignInResult, type WithCookies } from './team.ts';

export type SignInDeps = {
  db: Database;
  auth: Auth;
  passkeys: PasskeyDeps;
  session: SessionCookie;
  knownBrowsers: KnownBrowsers;
  /** The cookie of a sign-in that waits for its second factor. */
  secondFactor: SessionCookie;
};

/** Signs a member in. Unknown addresses are counted and take as long as known ones. */
export async function signIn(
  deps: SignInDeps,
  caller: Caller,
  { email, password }: { email: string; password: string },
): Promise<WithCookies<SignInResult>> {
  const account = await findPassword(deps.db, email);
  const attempt = attemptOf(deps, caller, { kind: 'password', account: email, password: account });
  await countAttempt(deps, attempt);
  const opened = await openSession(deps, caller, { email, password });
  // A correct password deducts nothing while the second factor is missing. Otherwise codes could be tried without limit.
  if (!opened.result.needsCode) await forgiveAttempt(deps, attempt);
  return opened;
}

/** Opens a session without counting an attempt, for an account that was created in the same request. */
export async function openSession(
  deps: SignInDeps,
  caller: Caller,
  { email, password }: { email: string; password: string },
): Promise<WithCookies<SignInResult>> {
  const headers = toHeaders(caller);
  const before = await findPassword(deps.db, email);
  const { response, cookies } = await callAuth(() =>
    deps.auth.api.signInEmail({ body: { email, password }, headers, returnHeaders: true }),
  );
  const needsCode = 'twoFactorRedirect' in response;
  const after = await findPassword(deps.db, email);
  if (before?.hash !== after?.hash) {
    // The password was replaced during the comparison. That change could not end a session that did not exist yet.
    if (after) await deleteChallenges(deps.db, after.userId);
    if (!needsCode) await deleteSessionByToken(deps.db, response.token);
    const message = 'The password was changed just now. Sign in with the new one.';
    throw new Fault('validation_failed', { details: [{ message, field: 'password' }] });
  }
  if (needsCode) return { result: { memberId: null, needsCode }, cookies };
  const { id: memberId } = response.user;
  return { result: { memberId, needsCode }, cookies: [...cookies, ...remember(deps, caller, after)] };
}

export async function signInByCode(
  deps: SignInDeps,
  caller: Caller,
  { code, kind }: { code: string; kind: 'totp' | 'backup' },
): Promise<WithCookies<SignInResult>> {
  const account = await secondFactorAccount(deps, caller);
  const attempt = attemptOf(deps, caller, {
    kind: 'code',
    account: account?.userId ?? null,
    password: account,
  });
  await countAttempt(deps, attempt);
  const request = { body: { code }, headers: toHeaders(caller), returnHeaders: true } as const;
  const { api } = deps.auth;
  const { response, cookies } = await callAuth(() =>
    kind === 'totp' ? api.verifyTOTP(request) : api.verifyBackupCode(request),
  );
  const { id: memberId, email } = response.user;
  if (kind === 'totp' && !(await spendCode(deps, { memberId, code }))) {
    // better-auth has already opened a session. Its cookie is not returned.
    if (response.token !== undefined) await deleteSessionByToken(deps.db, response.token);
    const message = 'This code was used already. Wait for the next one.';
    throw new Fault('validation_failed', { details: [{ message, field: 'code' }] });
  }
  await forgiveAttempt(deps, attempt);
  await forgiveAttempt(deps, { ...attempt, kind: 'password', account: email });
  return {
    result: { memberId, needsCode: false },
    cookies: [...cookies, ...remember(deps, caller, account)],
  };
}

export async function passkeyOptions(
  deps: SignInDeps,
  caller: Caller,
): Promise<WithCookies<Record<string, unknown>>> {
  const { db } = deps;
  await countPasskey({ db }, caller.address);
  await deleteOldChallenges(db, { before: new Date(db.clock.now()) });
  return assertionOptions(deps.passkeys, { ceremony: 'sign_in', userId: null });
}

export async function signInByPasskey(
  deps: SignInDeps,
  caller: Caller,
  response: Record<string, unknown>,
): Promise<WithCookies<SignInResult>> {
  await countAddress(deps, caller.address);
  const asserted = { ceremony: 'sign_in', userId: null, response } as const;
  const memberId = await verifyAssertion(deps.passkeys, caller, asserted);
  await forgiveAddress(deps, caller.address);
  const cookie = await startSession(deps, caller, memberId);
  const browserCookies = remember(deps, caller, await findPasswordOf(deps.db, memberId));
  return { result: { memberId, needsCode: false }, cookies: [cookie, ...browserCookies] };
}

/** Anyone may ask for a new password by email. Requests are limited like guesses, so that they cannot flood the mailbox. */
export async function countResetRequest(deps: SignInDeps, caller: Caller, email: string): Promise<void> {
  const password = await findPassword(deps.db, email);
  await countAttempt(deps, attemptOf(deps, caller, { kind: 'reset', account: email, password }));
}

type AttemptInput = { kind: AttemptKind; account: string | null; password: Password | undefined };

function attemptOf(
  { db, knownBrowsers }: SignInDeps,
  { headers, address }: Caller,
  { kind, account, password }: AttemptInput,
): AuthAttempt {
  const knownBrowser = knownBrowserId(knownBrowsers, password, { headers, now: db.clock.now() });
  return { kind, address, account, knownBrowser };
}

/** Returns the cookie by which this browser is recognized from now on. */
function remember(
  { db, knownBrowsers }: SignInDeps,
  { headers }: Caller,
  password: Password | undefined,
): string[] {
  if (!password) return [];
  const now = db.clock.now();
  const knownId = knownBrowserId(knownBrowsers, password, { headers, now });
  return [rememberBrowser(knownBrowsers, password, { knownId, now })];
}

/** Returns the cookies of a session whose password was changed: both the session and the browser get a new one. */
export async function renewedCookies(
  deps: SignInDeps,
  caller: Caller,
  { userId, token }: { userId: string; token: string },
): Promise<string[]> {
  const browserCookies = remember(deps, caller, await findPasswordOf(deps.db, userId));
  return [sessionCookie(deps.session, token), ...browserCookies];
}

async function secondFactorAccount(
  { db, secondFactor }: SignInDeps,
  { headers }: Caller,
): Promise<Password | undefined> {
  const identifier = readSignedCookie(headers, secondFactor);
  const userId = identifier === null ? undefined : await findSecondFactorUser(db, identifier);
  return userId === undefined ? undefined : findPasswordOf(db, userId);
}

export function toHeaders({ headers, address }: Caller): Headers {
  const result = new Headers({ [ADDRESS_HEADER]: address });
  for (const name of ['cookie', 'user-agent', 'origin'] as const) {
    const value = headers[name];
    if (value !== undefined) result.set(name, value);
  }
  return result;
}

type AuthResponse<T> = { headers: Headers; response: T };

/** Turns a rejection by better-auth into one of our faults, which says what to do. */
export async function callAuth<T>(
  call: () => Promise<AuthResponse<T>>,
): Promise<{ response: T; cookies: string[] }> {
  try {
    const { headers, response } = await call();
    return { response, cookies: headers.getSetCookie() };
  } catch (error) {
    if (error instanceof APIError) throw faultOf(error);
    throw error;
  }
}

function faultOf(error: APIError): Fault {
  const code = String(error.body?.code ?? '');
  const [kind, message, field] = WORDS[code] ?? [];
  if (kind === undefined || message === undefined)
    return error.statusCode >= 500
      ? new Fault('server_error', { cause: error })
      : new Fault('validation_failed', { details: [{ message: 'The request was rejected' }], cause: error });
  return new Fault(kind, { details: [field === undefined ? { message } : { message, field }], cause: error });
}

type Words = ['validation_failed' | 'conflict' | 'session_required', string, string?];

const WRONG_PASSWORD: Words = ['validation_failed', 'The password is wrong.', 'password'];
const TOO_LATE: Words = ['conflict', 'This request expired or was already answered. Start again.'];

const WORDS: Record<string, Words> = {
  INVALID_EMAIL_OR_PASSWORD: ['validation_failed', 'The email address or the password is wrong', 'password'],
  INVALID_EMAIL: ['validation_failed', 'This is not an email address', 'email'],
  INVALID_PASSWORD: WRONG_PASSWORD,
  PASSWORD_TOO_SHORT: [
    'validation_failed',
    `A password has at least ${PASSWORD_MIN_CHARS} characters`,
    'new',
  ],
  PASSWORD_TOO_LONG: ['validation_failed', 'The password is too long', 'new'],
  INVALID_CODE: ['validation_failed', 'The code is wrong. Use the latest one', 'code'],
  INVALID_BACKUP_CODE: ['validation_failed', 'The code is wrong or was already used', 'code'],
  INVALID_TWO_FACTOR_COOKIE: TOO_LATE,
  // Five wrong codes end the sign-in that they belong to. The password starts another one.
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: TOO_LATE,
  TOTP_ALREADY_ENABLED: ['conflict', 'An authenticator app is already set up'],
  TOTP_NOT_ENABLED: ['conflict', 'No authenticator app is set up'],
  BACKUP_CODES_NOT_ENABLED: ['conflict', 'No authenticator app is set up'],
  TWO_FACTOR_NOT_ENABLED: ['conflict', 'No authenticator app is set up'],
  UNAUTHORIZED: ['session_required', 'Sign in first: there is no session, or it has expired'],
};
