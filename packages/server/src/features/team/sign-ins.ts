import { hashPassword } from 'better-auth/crypto';
import type { Database } from '../../io/db/index.ts';
import {
  addPasskey,
  beginTwoFactor,
  changePassword,
  confirmTwoFactor,
  endTwoFactor,
  newBackupCodes,
  newPasskeyOptions,
} from './account.ts';
import { type AuthOptions, createAuth } from './auth.ts';
import {
  asked,
  openSession,
  passkeyOptions,
  signIn,
  signInByCode,
  signInByPasskey,
  toHeaders,
} from './sign-in.ts';
import type { Caller } from './team.ts';

/** All that people do about signing in: the one place that knows who conducts it. */
export function createSignIns(db: Database, options: AuthOptions) {
  const auth = createAuth(options);
  const deps = { db, auth };
  return {
    signIn: bound(deps, signIn),
    openSession: bound(deps, openSession),
    signInByCode: bound(deps, signInByCode),
    signInByPasskey: bound(deps, signInByPasskey),
    passkeyOptions: (caller: Caller) => passkeyOptions(deps, caller),
    changePassword: bound(deps, changePassword),
    beginTwoFactor: bound(deps, beginTwoFactor),
    confirmTwoFactor: bound(deps, confirmTwoFactor),
    endTwoFactor: bound(deps, endTwoFactor),
    newBackupCodes: bound(deps, newBackupCodes),
    newPasskeyOptions: (caller: Caller) => newPasskeyOptions(deps, caller),
    addPasskey: bound(deps, addPasskey),
    hashPassword,
    /** Thirty days from now on, once a day; the cookies that say so. */
    async prolong(caller: Caller): Promise<string[]> {
      const headers = toHeaders(caller);
      return (await asked(() => auth.api.getSession({ headers, returnHeaders: true }))).cookies;
    },
    async signOut(caller: Caller): Promise<string[]> {
      const headers = toHeaders(caller);
      return (await asked(() => auth.api.signOut({ headers, returnHeaders: true }))).cookies;
    },
    /** What the tables lack of what is expected of them; throws where it is anything. */
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
