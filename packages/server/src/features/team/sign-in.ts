import { APIError } from 'better-auth/api';
import { Fault } from '../../base/fault.ts';
import type { Database } from '../../io/db/index.ts';
import { countAttempt, countPasskey, forgiveAttempt, spendCode } from './attempts.ts';
import { ADDRESS_HEADER, type Auth } from './auth.ts';
import { assertionOptions, type PasskeyDeps, verifyAssertion } from './passkeys.ts';
import { findPassword } from './reads.ts';
import { type SessionCookie, startSession } from './sessions.ts';
import { deleteChallenges, deleteOldChallenges, deleteSessionByToken } from './store.ts';
import { type Caller, PASSWORD_MIN_CHARS, type SignedIn, type WithCookies } from './team.ts';

export type SignInDeps = { db: Database; auth: Auth; passkeys: PasskeyDeps; session: SessionCookie };

/** Of who is not known, everything takes as long as of who is. */
export async function signIn(
  deps: SignInDeps,
  caller: Caller,
  { email, password }: { email: string; password: string },
): Promise<WithCookies<SignedIn>> {
  const trying = { address: caller.address, email };
  await countAttempt(deps, trying);
  const opened = await openSession(deps, caller, { email, password });
  // With a second factor to come the password alone forgives nothing: codes would be tried without end.
  if (!opened.answer.needsCode) await forgiveAttempt(deps, trying);
  return opened;
}

/** The same, where whoever asks need not be slowed down. */
export async function openSession(
  deps: SignInDeps,
  caller: Caller,
  { email, password }: { email: string; password: string },
): Promise<WithCookies<SignedIn>> {
  const headers = toHeaders(caller);
  const before = await findPassword(deps.db, email);
  const { response, cookies } = await asked(() =>
    deps.auth.api.signInEmail({ body: { email, password }, headers, returnHeaders: true }),
  );
  const needsCode = 'twoFactorRedirect' in response;
  const after = await findPassword(deps.db, email);
  if (before?.hash !== after?.hash) {
    // It was another password that was compared: whoever changed it meanwhile could not end what was not there yet.
    if (after) await deleteChallenges(deps.db, after.userId);
    if (!needsCode) await deleteSessionByToken(deps.db, response.token);
    const message = 'The password was changed just now: sign in with the new one';
    throw new Fault('validation_failed', { details: [{ message, field: 'password' }] });
  }
  return { answer: { personId: needsCode ? null : response.user.id, needsCode }, cookies };
}

export async function signInByCode(
  deps: SignInDeps,
  caller: Caller,
  { code, kind }: { code: string; kind: 'totp' | 'backup' },
): Promise<WithCookies<SignedIn>> {
  await countAttempt(deps, { address: caller.address });
  const given = { body: { code }, headers: toHeaders(caller), returnHeaders: true } as const;
  const { api } = deps.auth;
  const { response, cookies } = await asked(() =>
    kind === 'totp' ? api.verifyTOTP(given) : api.verifyBackupCode(given),
  );
  const { id: personId } = response.user;
  if (kind === 'totp' && !(await spendCode(deps, { personId, code }))) {
    // The library has opened a session by then; nobody is told of it.
    if (response.token !== undefined) await deleteSessionByToken(deps.db, response.token);
    const message = 'The code was used already: wait for the next one';
    throw new Fault('validation_failed', { details: [{ message, field: 'code' }] });
  }
  await forgiveAttempt(deps, { address: caller.address, email: response.user.email });
  return { answer: { personId, needsCode: false }, cookies };
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
): Promise<WithCookies<SignedIn>> {
  await countAttempt(deps, { address: caller.address });
  const asserted = { ceremony: 'sign_in', userId: null, response } as const;
  const personId = await verifyAssertion(deps.passkeys, caller, asserted);
  await forgiveAttempt(deps, { address: caller.address });
  const cookie = await startSession(deps, caller, personId);
  return { answer: { personId, needsCode: false }, cookies: [cookie] };
}

export function toHeaders({ headers, address }: Caller): Headers {
  const known = new Headers({ [ADDRESS_HEADER]: address });
  for (const name of ['cookie', 'user-agent', 'origin'] as const) {
    const value = headers[name];
    if (value !== undefined) known.set(name, value);
  }
  return known;
}

type Told<T> = { headers: Headers; response: T };

/** What better-auth refuses becomes a fault of ours, which says what to do. */
export async function asked<T>(ask: () => Promise<Told<T>>): Promise<{ response: T; cookies: string[] }> {
  try {
    const { headers, response } = await ask();
    return { response, cookies: headers.getSetCookie() };
  } catch (error) {
    if (error instanceof APIError) throw faultOf(error);
    throw error;
  }
}

const LOCKED_FOR_S = 15 * 60;

function faultOf(error: APIError): Fault {
  const code = String(error.body?.code ?? '');
  if (code === 'ACCOUNT_TEMPORARILY_LOCKED' || code === 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE')
    return new Fault('rate_limited', { retryAfterS: LOCKED_FOR_S, cause: error });
  const [kind, message, field] = WORDS[code] ?? [];
  if (kind === undefined || message === undefined)
    return error.statusCode >= 500
      ? new Fault('server_error', { cause: error })
      : new Fault('validation_failed', { details: [{ message: 'This was not accepted' }], cause: error });
  return new Fault(kind, { details: [field === undefined ? { message } : { message, field }], cause: error });
}

type Words = ['validation_failed' | 'conflict' | 'session_required', string, string?];

const WRONG_PASSWORD: Words = ['validation_failed', 'The password is not right', 'password'];
const TOO_LATE: Words = ['conflict', 'This request expired or was already answered. Start again.'];

const WORDS: Record<string, Words> = {
  INVALID_EMAIL_OR_PASSWORD: ['validation_failed', 'The address or the password is not right', 'password'],
  INVALID_EMAIL: ['validation_failed', 'This is no e-mail address', 'email'],
  INVALID_PASSWORD: WRONG_PASSWORD,
  PASSWORD_TOO_SHORT: [
    'validation_failed',
    `A password has at least ${PASSWORD_MIN_CHARS} characters`,
    'new',
  ],
  PASSWORD_TOO_LONG: ['validation_failed', 'The password is too long', 'new'],
  INVALID_CODE: ['validation_failed', 'The code is not right: take the newest one', 'code'],
  INVALID_BACKUP_CODE: ['validation_failed', 'The code is not right, or was used already', 'code'],
  INVALID_TWO_FACTOR_COOKIE: TOO_LATE,
  TOTP_ALREADY_ENABLED: ['conflict', 'An authenticator app is set up already'],
  TOTP_NOT_ENABLED: ['conflict', 'No authenticator app is set up'],
  BACKUP_CODES_NOT_ENABLED: ['conflict', 'No authenticator app is set up'],
  TWO_FACTOR_NOT_ENABLED: ['conflict', 'No authenticator app is set up'],
  UNAUTHORIZED: ['session_required', 'Sign in first: there is no session, or it has ended'],
};
