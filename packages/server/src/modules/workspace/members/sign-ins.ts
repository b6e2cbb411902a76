import { hashPassword } from 'better-auth/crypto';
import { countSessionAttempt, forgiveSessionAttempt } from './attempts.ts';
import { type AuthOptions, createAuth } from './auth.ts';
import {
  checkPassword,
  confirmByPasskey,
  confirmByPassword,
  confirmOptions,
  type MemberSession,
} from './confirm.ts';
import { cookieNames } from './cookies.ts';
import { knownBrowsers } from './known-browser.ts';
import { registerPasskey, registrationOptions } from './passkeys.ts';
import {
  callAuth,
  countResetRequest,
  openSession,
  passkeyOptions,
  renewedCookies,
  signIn,
  signInByCode,
  signInByPasskey,
  type SignInDeps,
  toHeaders,
} from './sign-in.ts';
import type { Caller, WithCookies } from './team.ts';
import type { Database } from '../../../platform/db/database.ts';

/**
 * Contains everything about signing in that needs better-auth or WebAuthn. It is loaded on first use, because most commands need neither.
 */
export function createSignIns(db: Database, options: Omit<AuthOptions, 'now'>) {
  const auth = createAuth({ ...options, now: () => db.clock.now() });
  const names = cookieNames(options.publicOrigin);
  const passkeys = { db, origin: options.publicOrigin, cookieName: names.passkey };
  const [secret] = options.secrets;
  const deps = {
    db,
    auth,
    passkeys,
    session: { name: names.session, secret },
    secondFactor: { name: names.secondFactor, secret },
    knownBrowsers: knownBrowsers(names.knownBrowser, options.secrets),
  };
  return {
    signIn: bound(deps, signIn),
    openSession: bound(deps, openSession),
    signInByCode: bound(deps, signInByCode),
    signInByPasskey: bound(deps, signInByPasskey),
    passkeyOptions: (caller: Caller) => passkeyOptions(deps, caller),
    countResetRequest: bound(deps, countResetRequest),
    confirmByPassword: bound(deps, confirmByPassword),
    confirmByPasskey: bound(deps, confirmByPasskey),
    confirmOptions: bound(deps, confirmOptions),
    checkCurrentPassword: (input: WithPassword) => checkCurrentPassword(deps, input),
    renewedCookies: bound(deps, renewedCookies),
    beginTwoFactor: bound(deps, beginTwoFactor),
    confirmTwoFactor: bound(deps, confirmTwoFactor),
    endTwoFactor: bound(deps, endTwoFactor),
    newBackupCodes: bound(deps, newBackupCodes),
    newPasskeyOptions: (member: { id: string; email: string }) => registrationOptions(passkeys, member),
    addPasskey: bound(passkeys, registerPasskey),
    hashPassword,
    /** Extends the session to thirty days from now, once a day, and returns its cookies. */
    async prolong(caller: Caller): Promise<string[]> {
      const headers = toHeaders(caller);
      return (await callAuth(() => auth.api.getSession({ headers, returnHeaders: true }))).cookies;
    },
    async signOut(caller: Caller): Promise<string[]> {
      const headers = toHeaders(caller);
      return (await callAuth(() => auth.api.signOut({ headers, returnHeaders: true }))).cookies;
    },
    /** Checks the tables against what better-auth expects, and throws if anything is missing. */
    checkTables: async () => (await auth.$context).explicitSchemaCheck?.(),
  };
}

export type SignIns = ReturnType<typeof createSignIns>;

function bound<D, W, A>(
  deps: D,
  work: (deps: D, caller: Caller, what: W) => Promise<A>,
): (caller: Caller, what: W) => Promise<A> {
  return (caller, what) => work(deps, caller, what);
}

type WithPassword = { member: MemberSession; password: string };

/** Returns the hash to replace if the current password is right. */
async function checkCurrentPassword(deps: SignInDeps, { member, password }: WithPassword): Promise<string> {
  return counted(deps, member, () => checkPassword(deps, member, password));
}

type NewFactor = { uri: string; backupCodes: string[] };

/** The app is required from its first correct code on, so closing the page before that does not lock the member out. */
async function beginTwoFactor(
  deps: SignInDeps,
  caller: Caller,
  { member, password }: WithPassword,
): Promise<WithCookies<NewFactor>> {
  const body = { password, method: 'totp' } as const;
  const headers = toHeaders(caller);
  const { response, cookies } = await counted(deps, member, () =>
    callAuth(() => deps.auth.api.enableTwoFactor({ body, headers, returnHeaders: true })),
  );
  if (response.method !== 'totp') throw new Error('expected an authenticator app');
  return { result: { uri: response.totpURI, backupCodes: response.backupCodes }, cookies };
}

async function confirmTwoFactor({ auth }: SignInDeps, caller: Caller, code: string): Promise<string[]> {
  const headers = toHeaders(caller);
  return (await callAuth(() => auth.api.verifyTOTP({ body: { code }, headers, returnHeaders: true })))
    .cookies;
}

async function endTwoFactor(
  deps: SignInDeps,
  caller: Caller,
  { member, password }: WithPassword,
): Promise<string[]> {
  const request = { body: { password }, headers: toHeaders(caller), returnHeaders: true } as const;
  const result = await counted(deps, member, () => callAuth(() => deps.auth.api.disableTwoFactor(request)));
  return result.cookies;
}

/** Replaces the backup codes. The previous codes become invalid. */
async function newBackupCodes(
  deps: SignInDeps,
  caller: Caller,
  { member, password }: WithPassword,
): Promise<string[]> {
  const headers = toHeaders(caller);
  const { response } = await counted(deps, member, () =>
    callAuth(() => deps.auth.api.generateBackupCodes({ body: { password }, headers, returnHeaders: true })),
  );
  return response.backupCodes;
}

async function counted<T>(
  deps: SignInDeps,
  { sessionId }: MemberSession,
  check: () => Promise<T>,
): Promise<T> {
  await countSessionAttempt(deps, sessionId);
  const result = await check();
  await forgiveSessionAttempt(deps, sessionId);
  return result;
}
