import { Type } from 'typebox';
import type { PasskeyListed } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import type { AccountEmails } from './account-emails.ts';
import { deletePasskey, deleteSessions } from './auth-store.ts';
import { listPasskeys, listSessions } from './reads.ts';
import type { Team } from './create-team.ts';
import { readName } from './make-person.ts';
import { type KitDeps, routesFor } from '../dashboard-api/route.ts';
import { callerOf, PASSKEY_RESPONSE, setCookies } from './caller.ts';
import { notifyMember } from './notices.ts';
import { wholeList } from '../dashboard-api/pages.ts';
import type { Installation } from './installation.ts';

type Deps = KitDeps & { accountEmails: AccountEmails; installation: Installation; team: Team };
const { route } = routesFor<Deps>();

const TEXT = Type.String({ maxLength: 1_000 });
const PASSWORD = Type.Object({ password: TEXT });

/** The second factor, passkeys, and confirming who one is. */
export const factorRoutes = [
  route('POST /two-factor/begin', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'two_factor.set_up',
    body: PASSWORD,
    async handle(deps, { body, request, reply, person, note }) {
      const signIns = await deps.team.signIns();
      const { answer, cookies } = await signIns.beginTwoFactor(callerOf(deps, request), {
        member: person,
        password: body.password,
      });
      setCookies(reply, cookies);
      note({ subject: person.email });
      return { data: { uri: answer.uri, backup_codes: answer.backupCodes } };
    },
  }),
  route('POST /two-factor/confirm', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'two_factor.enable',
    body: Type.Object({ code: TEXT }),
    async handle(deps, { body, request, reply, person, note }) {
      const [signIns, code] = [await deps.team.signIns(), body.code.replaceAll(' ', '')];
      const others = (await listSessions(deps.db, person.id)).filter(({ id }) => id !== person.sessionId);
      setCookies(reply, await signIns.confirmTwoFactor(callerOf(deps, request), code));
      // A password alone opened those sessions.
      for (const { id } of others) await deleteSessions(deps.db, { userId: person.id, only: id });
      note({ subject: person.email, after: { ended: others.length } });
      notifyMember(deps, request, { member: person, change: { kind: 'two_factor_on' } });
      return { data: { two_factor: true } };
    },
  }),
  route('POST /two-factor/end', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'two_factor.disable',
    body: PASSWORD,
    async handle(deps, { body, request, reply, person, note }) {
      const signIns = await deps.team.signIns();
      const given = { member: person, password: body.password };
      setCookies(reply, await signIns.endTwoFactor(callerOf(deps, request), given));
      note({ subject: person.email });
      notifyMember(deps, request, { member: person, change: { kind: 'two_factor_off' } });
      return { data: { two_factor: false } };
    },
  }),
  route('POST /two-factor/backup-codes', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'two_factor.renew_codes',
    body: PASSWORD,
    async handle(deps, { body, request, person, note }) {
      const signIns = await deps.team.signIns();
      const backup_codes = await signIns.newBackupCodes(callerOf(deps, request), {
        member: person,
        password: body.password,
      });
      note({ subject: person.email });
      notifyMember(deps, request, { member: person, change: { kind: 'backup_codes_replaced' } });
      return { data: { backup_codes } };
    },
  }),
  route('GET /passkeys', {
    needs: 'signed_in',
    isAccount: true,
    async handle({ db }, { person }) {
      return wholeList((await listPasskeys(db, person.id)).map(toListed));
    },
  }),
  route('POST /passkeys/options', {
    needs: 'signed_in',
    isAccount: true,
    needsConfirmation: true,
    reads: true,
    async handle(deps, { person, reply }) {
      const signIns = await deps.team.signIns();
      const { answer: data, cookies } = await signIns.newPasskeyOptions(person);
      setCookies(reply, cookies);
      return { data };
    },
  }),
  route('POST /passkeys', {
    needs: 'signed_in',
    isAccount: true,
    needsConfirmation: true,
    audit: 'passkey.add',
    body: Type.Object({ response: Type.Record(Type.String(), Type.Unknown()), name: TEXT }),
    async handle(deps, { body, person, request, note }) {
      const wanted = { response: body.response, name: readName(body.name), userId: person.id };
      const made = await (await deps.team.signIns()).addPasskey(callerOf(deps, request), wanted);
      note({ subject: made.name });
      notifyMember(deps, request, { member: person, change: { kind: 'passkey_added', name: made.name } });
      return { data: toListed(made) };
    },
  }),
  route('POST /passkeys/:passkey/delete', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'passkey.delete',
    async handle({ db }, { person, params, note }) {
      const name = await deletePasskey(db, { id: params.passkey, userId: person.id });
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
    body: Type.Object({ password: TEXT, code: Type.Optional(TEXT) }),
    async handle(deps, { body, person, request, note }) {
      const code = body.code?.replaceAll(' ', '');
      const given = { member: person, password: body.password, code };
      await (await deps.team.signIns()).confirmByPassword(callerOf(deps, request), given);
      note({ subject: person.email });
      return { data: { confirmed: true } };
    },
  }),
  route('POST /confirm/passkey-options', {
    needs: 'signed_in',
    isAccount: true,
    reads: true,
    async handle(deps, { person, request, reply }) {
      const signIns = await deps.team.signIns();
      const { answer: data, cookies } = await signIns.confirmOptions(callerOf(deps, request), person);
      setCookies(reply, cookies);
      return { data };
    },
  }),
  route('POST /confirm/passkey', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'session.confirm',
    body: Type.Object({ response: PASSKEY_RESPONSE }),
    async handle(deps, { body, person, request, note }) {
      const given = { member: person, response: body.response };
      await (await deps.team.signIns()).confirmByPasskey(callerOf(deps, request), given);
      note({ subject: person.email });
      return { data: { confirmed: true } };
    },
  }),
];

function toListed({ id, name, createdAt }: { id: string; name: string; createdAt: Date }): PasskeyListed {
  return { id, name, created_at: createdAt.toISOString() };
}
