import { verifyPassword } from 'better-auth/crypto';
import { Fault } from '../../../platform/fault.ts';
import { countPasskey, countSessionAttempt, forgiveSessionAttempt, spendCode } from './attempts.ts';
import { assertionOptions, verifyAssertion } from './passkeys.ts';
import { findPasswordOf, findUserById } from './reads.ts';
import { updateConfirmed } from './auth-store.ts';
import { callAuth, type SignInDeps, toHeaders } from './sign-in.ts';
import type { Caller, SignedInMember, WithCookies } from './team.ts';

/** A member and their session. */
export type MemberSession = Pick<SignedInMember, 'id' | 'sessionId'>;

/** Confirms with everything that signing in takes: the password and, if an authenticator app is set up, a code. */
export async function confirmByPassword(
  deps: SignInDeps,
  caller: Caller,
  { member, password, code }: { member: MemberSession; password: string; code: string | undefined },
): Promise<void> {
  await countSessionAttempt(deps, member.sessionId);
  await checkPassword(deps, member, password);
  const user = await findUserById(deps.db, member.id);
  if (user?.twoFactor) await checkCode(deps, caller, { member, code });
  await confirmed(deps, member);
}

/** Counted like the options of a sign-in, because each leaves a row until it is answered or expires. */
export async function confirmOptions(
  deps: SignInDeps,
  { address }: Caller,
  member: MemberSession,
): Promise<WithCookies<Record<string, unknown>>> {
  await countPasskey(deps, address);
  return assertionOptions(deps.passkeys, { ceremony: 'confirmation', userId: member.id });
}

export async function confirmByPasskey(
  deps: SignInDeps,
  caller: Caller,
  { member, response }: { member: MemberSession; response: Record<string, unknown> },
): Promise<void> {
  await countSessionAttempt(deps, member.sessionId);
  const asserted = { ceremony: 'confirmation', userId: member.id, response } as const;
  await verifyAssertion(deps.passkeys, caller, asserted);
  await confirmed(deps, member);
}

/** Returns the hash that the password was compared with. The caller has counted the attempt. */
export async function checkPassword(
  { db }: SignInDeps,
  { id }: MemberSession,
  password: string,
): Promise<string> {
  const current = await findPasswordOf(db, id);
  if (current && (await verifyPassword({ hash: current.hash, password }))) return current.hash;
  throw refused('password', 'The password is wrong.');
}

const APP_CODE = /^\d{6}$/;

/** Six digits are a code of the authenticator app. Anything else is treated as a backup code. */
async function checkCode(
  { auth, db }: SignInDeps,
  caller: Caller,
  { member, code }: { member: MemberSession; code: string | undefined },
): Promise<void> {
  if (code === undefined || code === '')
    throw refused('code', 'Enter the code of your authenticator app, or a backup code.');
  const headers = toHeaders(caller);
  const request = { body: { code }, headers, returnHeaders: true } as const;
  if (!APP_CODE.test(code)) {
    await callAuth(() => auth.api.verifyBackupCode(request));
    return;
  }
  await callAuth(() => auth.api.verifyTOTP(request));
  if (!(await spendCode({ db }, { memberId: member.id, code })))
    throw refused('code', 'This code was used already. Wait for the next one.');
}

async function confirmed({ db }: SignInDeps, { sessionId }: MemberSession): Promise<void> {
  await updateConfirmed(db, { id: sessionId, at: new Date(db.clock.now()) });
  await forgiveSessionAttempt({ db }, sessionId);
}

function refused(field: string, message: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
