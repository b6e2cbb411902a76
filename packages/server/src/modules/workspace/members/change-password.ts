import { Fault } from '../../../platform/fault.ts';
import { deleteChallenges, updatePassword } from './store.ts';
import { deletePasskeys } from './passkey-store.ts';
import { deleteSessions, updateSessionToken } from './session-store.ts';
import { newSessionToken } from './sessions.ts';
import type { Person } from './team.ts';
import { revokeTokensOf } from '../tokens/store.ts';
import type { Database } from '../../../platform/db/database.ts';

export type PasswordChange = {
  member: Pick<Person, 'id' | 'sessionId'>;
  /** The hash that the current password was compared with. */
  from: string;
  to: string;
  endsPasskeysAndTokens: boolean;
};

/**
 * Ends all other sessions and all sign-ins that wait for their second factor. This session gets a new cookie, because the old one may be in
 * other hands. Returns the new value of the cookie.
 */
export function changePassword(
  db: Pick<Database, 'transaction' | 'clock'>,
  { member: { id: userId, sessionId }, from, to, endsPasskeysAndTokens }: PasswordChange,
): Promise<string> {
  return db.transaction(async (tx) => {
    const [at, token] = [new Date(db.clock.now()), newSessionToken()];
    if (!(await updatePassword(tx, { userId, from, to, at }))) throw changedMeanwhile();
    await deleteSessions(tx, { userId, except: sessionId });
    await updateSessionToken(tx, { id: sessionId, token });
    await deleteChallenges(tx, userId);
    if (endsPasskeysAndTokens) {
      await deletePasskeys(tx, userId);
      await revokeTokensOf(tx, { userId, at });
    }
    return token;
  });
}

function changedMeanwhile(): Fault {
  const message = 'The password was changed in another window just now. Try again with the new one.';
  return new Fault('validation_failed', { details: [{ message, field: 'password' }] });
}
