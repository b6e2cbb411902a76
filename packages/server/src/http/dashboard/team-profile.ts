import { Type } from 'typebox';
import type { Many, PasskeyListed, SessionListed } from '@beckon/contract/dashboard';
import { Fault } from '../../base/fault.ts';
import {
  deletePasskey,
  deleteSessions,
  listPasskeys,
  listSessions,
  updateUserName,
  updateWantsDigest,
} from '../../features/team/index.ts';
import { readName } from '../../flows/team/index.ts';
import { route } from './route.ts';
import { callerOf, setCookies } from './team-caller.ts';

const TEXT = Type.String({ maxLength: 1_000 });
const PASSWORD = Type.Object({ password: TEXT });

/** What people do about their own account, whatever they may do elsewhere. */
export const profileRoutes = [
  route('POST /profile', {
    needs: 'signed_in',
    audit: 'profile.rename',
    body: Type.Object({ name: TEXT }),
    async handle({ db }, { person, body, note }) {
      const name = readName(body.name);
      await updateUserName(db, { id: person.id, name, at: new Date(db.clock.now()) });
      note({ subject: person.email, before: { name: person.name }, after: { name } });
      return { data: { name } };
    },
  }),
  route('POST /organisations/:organisation/digest', {
    needs: 'signed_in',
    audit: 'profile.digest',
    body: Type.Object({ wanted: Type.Boolean() }),
    async handle({ db }, { person, params, body, note }) {
      const row = { organisationId: params.organisation, userId: person.id, wanted: body.wanted };
      if (!(await updateWantsDigest(db, row))) throw new Fault('not_found');
      note({
        organisationId: params.organisation,
        subject: person.email,
        after: { wanted: body.wanted },
      });
      return { data: { wanted: body.wanted } };
    },
  }),
  route('POST /password', {
    needs: 'signed_in',
    audit: 'password.change',
    body: Type.Object({ current: TEXT, new: TEXT }),
    async handle(deps, { body, request, reply, person, note }) {
      const wanted = { current: body.current, wanted: body.new };
      setCookies(reply, await (await deps.team.signIns()).changePassword(callerOf(deps, request), wanted));
      note({ subject: person.email });
      return { data: { changed: true } };
    },
  }),
  route('GET /sessions', {
    needs: 'signed_in',
    async handle({ db }, { person }) {
      const rows = await listSessions(db, person.id);
      return whole(
        rows.map((row): SessionListed => ({
          id: row.id,
          user_agent: row.userAgent,
          address: row.address,
          created_at: row.createdAt.toISOString(),
          last_seen_at: row.lastSeenAt.toISOString(),
          expires_at: row.expiresAt.toISOString(),
          is_this_one: row.id === person.sessionId,
        })),
      );
    },
  }),
  route('POST /sessions/:session/end', {
    needs: 'signed_in',
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
    audit: 'session.end_others',
    async handle({ db }, { person, note }) {
      const ended = await deleteSessions(db, { userId: person.id, except: person.sessionId });
      note({ subject: person.email, after: { ended } });
      return { data: { ended } };
    },
  }),
];

/** The second factor, and passkeys. */
export const factorRoutes = [
  route('POST /two-factor/begin', {
    needs: 'signed_in',
    audit: 'two_factor.begin',
    body: PASSWORD,
    async handle(deps, { body, request, reply, person, note }) {
      const signIns = await deps.team.signIns();
      const { answer, cookies } = await signIns.beginTwoFactor(callerOf(deps, request), body.password);
      setCookies(reply, cookies);
      note({ subject: person.email });
      return { data: { uri: answer.uri, backup_codes: answer.backupCodes } };
    },
  }),
  route('POST /two-factor/confirm', {
    needs: 'signed_in',
    audit: 'two_factor.on',
    body: Type.Object({ code: TEXT }),
    async handle(deps, { body, request, reply, person, note }) {
      const [signIns, code] = [await deps.team.signIns(), body.code.replaceAll(' ', '')];
      const others = (await listSessions(deps.db, person.id)).filter(({ id }) => id !== person.sessionId);
      setCookies(reply, await signIns.confirmTwoFactor(callerOf(deps, request), code));
      // Those were opened by a password alone.
      for (const { id } of others) await deleteSessions(deps.db, { userId: person.id, only: id });
      note({ subject: person.email, after: { ended: others.length } });
      return { data: { two_factor: true } };
    },
  }),
  route('POST /two-factor/end', {
    needs: 'signed_in',
    audit: 'two_factor.off',
    body: PASSWORD,
    async handle(deps, { body, request, reply, person, note }) {
      const signIns = await deps.team.signIns();
      setCookies(reply, await signIns.endTwoFactor(callerOf(deps, request), body.password));
      note({ subject: person.email });
      return { data: { two_factor: false } };
    },
  }),
  route('POST /two-factor/backup-codes', {
    needs: 'signed_in',
    audit: 'two_factor.new_codes',
    body: PASSWORD,
    async handle(deps, { body, request, person, note }) {
      const signIns = await deps.team.signIns();
      const backup_codes = await signIns.newBackupCodes(callerOf(deps, request), body.password);
      note({ subject: person.email });
      return { data: { backup_codes } };
    },
  }),
  route('GET /passkeys', {
    needs: 'signed_in',
    async handle({ db }, { person }) {
      return whole((await listPasskeys(db, person.id)).map(toListed));
    },
  }),
  route('POST /passkeys/options', {
    needs: 'signed_in',
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
    audit: 'passkey.add',
    body: Type.Object({ response: Type.Record(Type.String(), Type.Unknown()), name: TEXT }),
    async handle(deps, { body, person, request, note }) {
      const wanted = { response: body.response, name: readName(body.name), userId: person.id };
      const made = await (await deps.team.signIns()).addPasskey(callerOf(deps, request), wanted);
      note({ subject: made.name });
      return { data: toListed(made) };
    },
  }),
  route('POST /passkeys/:passkey/delete', {
    needs: 'signed_in',
    audit: 'passkey.delete',
    async handle({ db }, { person, params, note }) {
      const name = await deletePasskey(db, { id: params.passkey, userId: person.id });
      if (name === null) throw new Fault('not_found');
      note({ subject: name });
      return { data: { deleted: true } };
    },
  }),
];

function toListed({ id, name, createdAt }: { id: string; name: string; createdAt: Date }): PasskeyListed {
  return { id, name, created_at: createdAt.toISOString() };
}

/** A list that nobody has so much of that it came in pages. */
function whole<T>(data: T[]): Many<T> {
  const pagination = { total: data.length, offset: 0, limit: data.length };
  return { data, meta: { pagination, cursor: null } };
}
