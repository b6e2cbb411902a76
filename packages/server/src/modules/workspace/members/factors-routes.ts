import { Fault } from '../../../platform/fault.ts';
import type { AccountEmails } from './account-emails.ts';
import { deletePasskey, deleteSessions } from './auth-store.ts';
import { listPasskeys, listSessions } from './reads.ts';
import type { Team } from './create-team.ts';
import { readName } from './make-person.ts';
import { type KitDeps, routesFor } from '../dashboard-api/route.ts';
import { callerOf, setCookies } from './caller.ts';
import { notifyMember } from './notices.ts';
import { wholeList } from '../dashboard-api/pages.ts';
import type { Installation } from './installation.ts';

type Deps = KitDeps & { accountEmails: AccountEmails; installation: Installation; team: Team };
const { route } = routesFor<Deps>();

/** The second factor, passkeys, and confirming who one is. */
export const factorRoutes = [
  route('POST /two-factor/begin', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'two_factor.set_up',
    async handle(deps, { body, request, reply, member, note }) {
      const signIns = await deps.team.signIns();
      const { result: answer, cookies } = await signIns.beginTwoFactor(callerOf(deps, request), {
        member: member,
        password: body.password,
      });
      setCookies(reply, cookies);
      note({ subject: member.email });
      return { data: { uri: answer.uri, backup_codes: answer.backupCodes } };
    },
  }),
  route('POST /two-factor/confirm', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'two_factor.enable',
    async handle(deps, { body, request, reply, member, note }) {
      const [signIns, code] = [await deps.team.signIns(), body.code.replaceAll(' ', '')];
      const others = (await listSessions(deps.db, member)).filter(({ current }) => !current);
      setCookies(reply, await signIns.confirmTwoFactor(callerOf(deps, request), code));
      // A password alone opened those sessions.
      for (const { id } of others) await deleteSessions(deps.db, { userId: member.id, only: id });
      note({ subject: member.email, after: { ended: others.length } });
      notifyMember(deps, request, { member: member, change: { kind: 'two_factor_on' } });
      return { data: { two_factor: true } };
    },
  }),
  route('POST /two-factor/end', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'two_factor.disable',
    async handle(deps, { body, request, reply, member, note }) {
      const signIns = await deps.team.signIns();
      const input = { member: member, password: body.password };
      setCookies(reply, await signIns.endTwoFactor(callerOf(deps, request), input));
      note({ subject: member.email });
      notifyMember(deps, request, { member: member, change: { kind: 'two_factor_off' } });
      return { data: { two_factor: false } };
    },
  }),
  route('POST /two-factor/backup-codes', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'two_factor.renew_codes',
    async handle(deps, { body, request, member, note }) {
      const signIns = await deps.team.signIns();
      const backup_codes = await signIns.newBackupCodes(callerOf(deps, request), {
        member: member,
        password: body.password,
      });
      note({ subject: member.email });
      notifyMember(deps, request, { member: member, change: { kind: 'backup_codes_replaced' } });
      return { data: { backup_codes } };
    },
  }),
  route('GET /passkeys', {
    needs: 'signed_in',
    isAccount: true,
    async handle({ db }, { member }) {
      return wholeList(await listPasskeys(db, member.id));
    },
  }),
  route('POST /passkeys/options', {
    needs: 'signed_in',
    isAccount: true,
    needsConfirmation: true,
    reads: true,
    async handle(deps, { member, reply }) {
      const signIns = await deps.team.signIns();
      const { result: data, cookies } = await signIns.newPasskeyOptions(member);
      setCookies(reply, cookies);
      return { data };
    },
  }),
  route('POST /passkeys', {
    needs: 'signed_in',
    isAccount: true,
    needsConfirmation: true,
    audit: 'passkey.add',
    async handle(deps, { body, member, request, note }) {
      const input = { response: body.response, name: readName(body.name), userId: member.id };
      const made = await (await deps.team.signIns()).addPasskey(callerOf(deps, request), input);
      note({ subject: made.name });
      notifyMember(deps, request, { member: member, change: { kind: 'passkey_added', name: made.name } });
      return { data: made };
    },
  }),
  route('POST /passkeys/:passkey/delete', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'passkey.delete',
    async handle({ db }, { member, params, note }) {
      const name = await deletePasskey(db, { id: params.passkey, userId: member.id });
      if (name === null) throw new Fault('not_found');
      note({ subject: name });
      return { data: { deleted: true } };
    },
  }),
];

export const confirmRoutes = [
  route('POST /confirm', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'session.confirm',
    async handle(deps, { body, member, request, note }) {
      const code = body.code?.replaceAll(' ', '');
      const input = { member: member, password: body.password, code };
      await (await deps.team.signIns()).confirmByPassword(callerOf(deps, request), input);
      note({ subject: member.email });
      return { data: { confirmed: true } };
    },
  }),
  route('POST /confirm/passkey-options', {
    needs: 'signed_in',
    isAccount: true,
    reads: true,
    async handle(deps, { member, request, reply }) {
      const signIns = await deps.team.signIns();
      const { result: data, cookies } = await signIns.confirmOptions(callerOf(deps, request), member);
      setCookies(reply, cookies);
      return { data };
    },
  }),
  route('POST /confirm/passkey', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'session.confirm',
    async handle(deps, { body, member, request, note }) {
      const input = { member: member, response: body.response };
      await (await deps.team.signIns()).confirmByPasskey(callerOf(deps, request), input);
      note({ subject: member.email });
      return { data: { confirmed: true } };
    },
  }),
];
