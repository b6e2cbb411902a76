import { Type } from 'typebox';
import type { SessionListed } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import type { AccountEmails } from './account-emails.ts';
import { deleteSessions } from './session-store.ts';
import { listSessions } from './reads.ts';
import { updateUserName, updateWantsDigest } from './store.ts';
import type { Team } from './create-team.ts';
import { changePassword } from './change-password.ts';
import { checkPassword, readName } from './make-person.ts';
import { routesFor } from '../dashboard-api/route.ts';
import { callerOf, setCookies } from './caller.ts';
import { notifyMember } from './notices.ts';
import { wholeList } from '../dashboard-api/whole-list.ts';
import type { KitDeps } from '../dashboard-api/kit-deps.ts';
import type { Installation } from '../projects/installation.ts';

type Deps = KitDeps & { accountEmails: AccountEmails; installation: Installation; team: Team };
const { route } = routesFor<Deps>();

const TEXT = Type.String({ maxLength: 1_000 });

/** Changes of a member's own account, whatever their roles. */
export const profileRoutes = [
  route('POST /profile', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'profile.rename',
    body: Type.Object({ name: TEXT }),
    async handle({ db }, { person, body, note }) {
      const name = readName(body.name);
      await updateUserName(db, { id: person.id, name, at: new Date(db.clock.now()) });
      note({ subject: person.email, before: { name: person.name }, after: { name } });
      return { data: { name } };
    },
  }),
  route('POST /organizations/:organization/digest', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'profile.set_digest',
    body: Type.Object({ enabled: Type.Boolean() }),
    async handle({ db }, { person, params, body, note }) {
      const row = { organizationId: params.organization, userId: person.id, wanted: body.enabled };
      if (!(await updateWantsDigest(db, row))) throw new Fault('not_found');
      note({
        organizationId: params.organization,
        subject: person.email,
        after: { wanted: body.enabled },
      });
      return { data: { enabled: body.enabled } };
    },
  }),
  route('POST /password', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'password.change',
    body: Type.Object({
      current: TEXT,
      new: TEXT,
      end_passkeys_and_tokens: Type.Optional(Type.Boolean()),
    }),
    async handle(deps, { body, request, reply, person, note }) {
      const signIns = await deps.team.signIns();
      checkPassword(body.new, 'new');
      const endsPasskeysAndTokens = body.end_passkeys_and_tokens ?? true;
      const from = await signIns.checkCurrentPassword({ member: person, password: body.current });
      const to = await signIns.hashPassword(body.new);
      const token = await changePassword(deps.db, { member: person, from, to, endsPasskeysAndTokens });
      const renewed = { userId: person.id, token };
      setCookies(reply, await signIns.renewedCookies(callerOf(deps, request), renewed));
      note({ subject: person.email, after: { end_passkeys_and_tokens: endsPasskeysAndTokens } });
      notifyMember(deps, request, {
        member: person,
        change: { kind: 'password_changed', endsPasskeysAndTokens },
      });
      return { data: { changed: true } };
    },
  }),
  route('GET /sessions', {
    needs: 'signed_in',
    isAccount: true,
    async handle({ db }, { person }) {
      const rows = await listSessions(db, person.id);
      return wholeList(
        rows.map((row): SessionListed => ({
          id: row.id,
          user_agent: row.userAgent,
          address: row.address,
          created_at: row.createdAt.toISOString(),
          last_seen_at: row.lastSeenAt.toISOString(),
          expires_at: row.expiresAt.toISOString(),
          current: row.id === person.sessionId,
        })),
      );
    },
  }),
  route('POST /sessions/:session/end', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'session.end',
    async handle({ db }, { person, params, note }) {
      const ended = await deleteSessions(db, { userId: person.id, only: params.session });
      if (ended === 0) throw new Fault('not_found');
      note({ subject: person.email });
      return { data: { ended } };
    },
  }),
  route('POST /sessions/end-others', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'session.end_others',
    async handle({ db }, { person, note }) {
      const ended = await deleteSessions(db, { userId: person.id, except: person.sessionId });
      note({ subject: person.email, after: { ended } });
      return { data: { ended } };
    },
  }),
];
