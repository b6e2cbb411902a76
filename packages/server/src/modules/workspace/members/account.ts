import { countSessionAttempt, forgiveSessionAttempt } from './attempts.ts';
import { checkPassword, type Member } from './confirm.ts';
import { asked, type SignInDeps, toHeaders } from './sign-in.ts';
import type { Caller, WithCookies } from './team.ts';

export type WithPassword = { member: Member; password: string };

/** Returns the hash to replace if the current password is right. */
export async function checkCurrentPassword(
  deps: SignInDeps,
  { member, password }: WithPassword,
): Promise<string> {
  return counted(deps, member, () => checkPassword(deps, member, password));
}

export type NewFactor = { uri: string; backupCodes: string[] };

/** The app is required from its first correct code on, so closing the page before that does not lock the member out. */
export async function beginTwoFactor(
  deps: SignInDeps,
  caller: Caller,
  { member, password }: WithPassword,
): Promise<WithCookies<NewFactor>> {
  const body = { password, method: 'totp' } as const;
  const headers = toHeaders(caller);
  const { response, cookies } = await counted(deps, member, () =>
    asked(() => deps.auth.api.enableTwoFactor({ body, headers, returnHeaders: true })),
  );
  if (response.method !== 'totp') throw new Error('expected an authenticator app');
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

export async function endTwoFactor(
  deps: SignInDeps,
  caller: Caller,
  { member, password }: WithPassword,
): Promise<string[]> {
  const given = { body: { password }, headers: toHeaders(caller), returnHeaders: true } as const;
  const done = await counted(deps, member, () => asked(() => deps.auth.api.disableTwoFactor(given)));
  return done.cookies;
}

/** Replaces the backup codes. The previous codes become invalid. */
export async function newBackupCodes(
  deps: SignInDeps,
  caller: Caller,
  { member, password }: WithPassword,
): Promise<string[]> {
  const headers = toHeaders(caller);
  const { response } = await counted(deps, member, () =>
    asked(() => deps.auth.api.generateBackupCodes({ body: { password }, headers, returnHeaders: true })),
  );
  return response.backupCodes;
}

async function counted<T>(deps: SignInDeps, { sessionId }: Member, check: () => Promise<T>): Promise<T> {
  await countSessionAttempt(deps, sessionId);
  const done = await check();
  await forgiveSessionAttempt(deps, sessionId);
  return done;
}
