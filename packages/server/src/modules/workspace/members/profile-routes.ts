import { type KitDeps, routesFor } from '../dashboard-api/route.ts';
import { wholeList } from '../dashboard-api/pages.ts';
import type { AccountEmails } from './account-emails.ts';
import { callerOf, setCookies } from './caller.ts';
import type { Team } from './create-team.ts';
import { checkPassword, readName } from './make-person.ts';
import { notifyMember } from './notices.ts';
import { deletePasskeys, deleteSessions, updateSessionToken } from './auth-store.ts';
import { listSessions } from './reads.ts';
import { newSessionToken } from './sessions.ts';
import { deleteChallenges, updatePassword, updateUserName, updateWantsDigest } from './store.ts';
import type { SignedInMember } from './team.ts';
import type { Installation } from './installation.ts';
import { revokeTokensOf } from '../tokens/store.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';

type Deps = KitDeps & { accountEmails: AccountEmails; installation: Installation; team: Team };
const { route } = routesFor<Deps>();

/** Changes of a member's own account, whatever their roles. */
export const profileRoutes = [
  route('POST /profile', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'profile.rename',
    async handle({ db }, { member, body, note }) {
      const name = readName(body.name);
      await updateUserName(db, { id: member.id, name, at: new Date(db.clock.now()) });
      note({ subject: member.email, before: { name: member.name }, after: { name } });
      return { data: { name } };
    },
  }),
  route('POST /organizations/:organization/digest', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'profile.set_digest',
    async handle({ db }, { member, params, body, note }) {
      const row = { organizationId: params.organization, userId: member.id, wantsDigest: body.enabled };
      if (!(await updateWantsDigest(db, row))) throw new Fault('not_found');
      note({
        organizationId: params.organization,
        subject: member.email,
        after: { wanted: body.enabled },
      });
      return { data: { enabled: body.enabled } };
    },
  }),
  route('POST /password', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'password.change',
    async handle(deps, { body, request, reply, member, note }) {
      const signIns = await deps.team.signIns();
      checkPassword(body.new, 'new');
      const endsPasskeysAndTokens = body.end_passkeys_and_tokens ?? true;
      const from = await signIns.checkCurrentPassword({ member: member, password: body.current });
      const to = await signIns.hashPassword(body.new);
      const token = await changePassword(deps.db, { member: member, from, to, endsPasskeysAndTokens });
      const renewed = { userId: member.id, token };
      setCookies(reply, await signIns.renewedCookies(callerOf(deps, request), renewed));
      note({ subject: member.email, after: { end_passkeys_and_tokens: endsPasskeysAndTokens } });
      notifyMember(deps, request, {
        member: member,
        change: { kind: 'password_changed', endsPasskeysAndTokens },
      });
      return { data: { changed: true } };
    },
  }),
  route('GET /sessions', {
    needs: 'signed_in',
    isAccount: true,
    async handle({ db }, { member }) {
      return wholeList(await listSessions(db, member));
    },
  }),
  route('POST /sessions/:session/end', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'session.end',
    async handle({ db }, { member, params, note }) {
      const ended = await deleteSessions(db, { userId: member.id, only: params.session });
      if (ended === 0) throw new Fault('not_found');
      note({ subject: member.email });
      return { data: { ended } };
    },
  }),
  route('POST /sessions/end-others', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'session.end_others',
    async handle({ db }, { member, note }) {
      const ended = await deleteSessions(db, { userId: member.id, except: member.sessionId });
      note({ subject: member.email, after: { ended } });
      return { data: { ended } };
    },
  }),
];

type PasswordChange = {
  member: Pick<SignedInMember, 'id' | 'sessionId'>;
  /** The hash that the current password was compared with. */
  from: string;
  to: string;
  endsPasskeysAndTokens: boolean;
};

/**
 * Ends all other sessions and all sign-ins that wait for their second factor. This session gets a new cookie, because the old one may be in
 * other hands. Returns the new value of the cookie.
 */
function changePassword(
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
