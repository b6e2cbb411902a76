import { countAddress, forgiveAddress } from './attempts.ts';
import { deleteChallenges } from './store.ts';
import { asked, type SignInDeps, toHeaders } from './sign-in.ts';
import type { Caller, WithCookies } from './team.ts';

/** All other sessions of this person end with the old password, and sign-ins that wait for their second factor. */
export async function changePassword(
  deps: SignInDeps,
  caller: Caller,
  { current, wanted }: { current: string; wanted: string },
): Promise<string[]> {
  const body = { currentPassword: current, newPassword: wanted, revokeOtherSessions: true };
  const headers = toHeaders(caller);
  const { api } = deps.auth;
  const { response, cookies } = await tried(deps, caller, () =>
    api.changePassword({ body, headers, returnHeaders: true }),
  );
  await deleteChallenges(deps.db, response.user.id);
  return cookies;
}

export type NewFactor = { uri: string; backupCodes: string[] };

/** It is asked for from its first right code on, not before: who closes the page here is not locked out. */
export async function beginTwoFactor(
  deps: SignInDeps,
  caller: Caller,
  password: string,
): Promise<WithCookies<NewFactor>> {
  const body = { password, method: 'totp' } as const;
  const headers = toHeaders(caller);
  const { response, cookies } = await tried(deps, caller, () =>
    deps.auth.api.enableTwoFactor({ body, headers, returnHeaders: true }),
  );
  if (response.method !== 'totp') throw new Error('an authenticator app was asked for');
  return { answer: { uri: response.totpURI, backupCodes: response.backupCodes }, cookies };
}

export async function confirmTwoFactor(
  { auth }: SignInDeps,
  caller: Caller,
  code: string,
): Promise<string[]> {
  const headers = toHeaders(caller);
  return (await asked(() => auth.api.verifyTOTP({ body: { code }, headers, returnHeaders: true }))).cookies;
}

export async function endTwoFactor(deps: SignInDeps, caller: Caller, password: string): Promise<string[]> {
  const wanted = { body: { password }, headers: toHeaders(caller), returnHeaders: true } as const;
  return (await tried(deps, caller, () => deps.auth.api.disableTwoFactor(wanted))).cookies;
}

/** The old ones are void. */
export async function newBackupCodes(deps: SignInDeps, caller: Caller, password: string): Promise<string[]> {
  const headers = toHeaders(caller);
  const { response } = await tried(deps, caller, () =>
    deps.auth.api.generateBackupCodes({ body: { password }, headers, returnHeaders: true }),
  );
  return response.backupCodes;
}

/** Whoever found an open browser tries its owner's password no faster than at the door. */
async function tried<T>(
  deps: SignInDeps,
  { address }: Caller,
  ask: () => Promise<{ headers: Headers; response: T }>,
): Promise<{ response: T; cookies: string[] }> {
  await countAddress(deps, address);
  const over = await asked(ask);
  await forgiveAddress(deps, address);
  return over;
}
