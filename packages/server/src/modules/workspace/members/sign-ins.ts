import { hashPassword } from 'better-auth/crypto';
import type { Database } from '../../../platform/db/database.ts';
import {
  beginTwoFactor,
  checkCurrentPassword,
  confirmTwoFactor,
  endTwoFactor,
  newBackupCodes,
  type WithPassword,
} from './account.ts';
import { type AuthOptions, createAuth } from './auth.ts';
import { confirmByPasskey, confirmByPassword, confirmOptions } from './confirm.ts';
import { cookieNames } from './cookies.ts';
import { knownBrowsers } from './known-browser.ts';
import { registerPasskey, registrationOptions } from './passkeys.ts';
import {
  asked,
  countResetRequest,
  openSession,
  passkeyOptions,
  renewedCookies,
  signIn,
  signInByCode,
  signInByPasskey,
  toHeaders,
} from './sign-in.ts';
import type { Caller } from './team.ts';

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
    known: knownBrowsers(names.knownBrowser, options.secrets),
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
    checkCurrentPassword: (given: WithPassword) => checkCurrentPassword(deps, given),
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
      return (await asked(() => auth.api.getSession({ headers, returnHeaders: true }))).cookies;
    },
    async signOut(caller: Caller): Promise<string[]> {
      const headers = toHeaders(caller);
      return (await asked(() => auth.api.signOut({ headers, returnHeaders: true }))).cookies;
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
