import { Type } from 'typebox';
import type { SessionState } from '@beckon/contract/dashboard';
import { findUserById, isSetUp, listMemberships, listOrganizations } from './reads.ts';
import { isLocalShell } from './local-shell.ts';
import type { SignedInMember, WithCookies } from './team.ts';
import type { Team } from './create-team.ts';
import { lookAt } from './use-link.ts';
import { callerOf, PASSKEY_RESPONSE, setCookies, type SignedInPerson } from './caller.ts';
import { type KitDeps, type OpenRouteRequest, routesFor } from '../dashboard-api/route.ts';
import type { Installation, Release } from './installation.ts';

type Deps = KitDeps & { installation: Installation; release: Release; team: Team };
const { openRoute, route } = routesFor<Deps>();

const TEXT = Type.String({ maxLength: 1_000 });

/** Signing in and out, and the first request of every page. */
export const sessionRoutes = [
  openRoute('GET /session', {
    isAccount: false,
    async handle(deps, { person, request, reply }) {
      if (person && !isLocalShell(person))
        setCookies(reply, await (await deps.team.signIns()).prolong(callerOf(deps, request)));
      return { data: await stateOf(deps, person) };
    },
  }),
  openRoute('GET /links', {
    query: Type.Object({ token: Type.String({ maxLength: 200 }) }),
    async handle({ db }, { query }) {
      const { kind, email, organization, role, hasAccount, expiresAt } = await lookAt(db, query.token);
      const expires_at = expiresAt.toISOString();
      return { data: { kind, email, organization, role, has_account: hasAccount, expires_at } };
    },
  }),
  openRoute('POST /sign-in', {
    audit: 'session.start',
    body: Type.Object({ email: TEXT, password: TEXT }),
    async handle(deps, asked) {
      const signIns = await deps.team.signIns();
      return answer(deps, asked, await signIns.signIn(callerOf(deps, asked.request), asked.body));
    },
  }),
  openRoute('POST /sign-in/totp', {
    audit: 'session.start',
    body: Type.Object({ code: TEXT }),
    async handle(deps, asked) {
      const [signIns, code] = [await deps.team.signIns(), asked.body.code.replaceAll(' ', '')];
      const caller = callerOf(deps, asked.request);
      return answer(deps, asked, await signIns.signInByCode(caller, { code, kind: 'totp' }));
    },
  }),
  openRoute('POST /sign-in/backup-code', {
    audit: 'session.start',
    body: Type.Object({ code: TEXT }),
    async handle(deps, asked) {
      const [signIns, code] = [await deps.team.signIns(), asked.body.code.trim()];
      const caller = callerOf(deps, asked.request);
      return answer(deps, asked, await signIns.signInByCode(caller, { code, kind: 'backup' }));
    },
  }),
  openRoute('POST /sign-in/passkey-options', {
    reads: true,
    async handle(deps, { request, reply }) {
      const { answer: data, cookies } = await (
        await deps.team.signIns()
      ).passkeyOptions(callerOf(deps, request));
      setCookies(reply, cookies);
      return { data };
    },
  }),
  openRoute('POST /sign-in/passkey', {
    audit: 'session.start',
    body: Type.Object({ response: PASSKEY_RESPONSE }),
    async handle(deps, asked) {
      const signIns = await deps.team.signIns();
      const caller = callerOf(deps, asked.request);
      return answer(deps, asked, await signIns.signInByPasskey(caller, asked.body.response));
    },
  }),
  route('POST /sign-out', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'session.end',
    async handle(deps, { request, reply }) {
      setCookies(reply, await (await deps.team.signIns()).signOut(callerOf(deps, request)));
      return { data: { signed_out: true } };
    },
  }),
];

type SignInKey =
  | 'POST /sign-in'
  | 'POST /sign-in/totp'
  | 'POST /sign-in/backup-code'
  | 'POST /sign-in/passkey';

async function answer(
  { db }: Deps,
  { reply, record }: Pick<OpenRouteRequest<SignInKey>, 'reply' | 'record'>,
  { answer: { personId, needsCode }, cookies }: WithCookies<SignedInPerson>,
) {
  const person = personId === null ? undefined : await findUserById(db, personId);
  if (person) await record(db, { by: person, subject: person.email });
  setCookies(reply, cookies);
  return { data: { signed_in: personId !== null, two_factor: needsCode } };
}

/** The local shell belongs to no organization, and acts as the owner of each. */
async function membershipsOf(db: Deps['db'], person: SignedInMember) {
  if (!isLocalShell(person)) return listMemberships(db, person.id);
  const organizations = await listOrganizations(db);
  return organizations.map((one) => ({
    ...one,
    role: 'owner' as const,
    lacksFactor: false,
    wantsDigest: false,
  }));
}

async function stateOf(deps: Deps, person: SignedInMember | null): Promise<SessionState> {
  const { db, access, installation, release } = deps;
  const user = person ? await findUserById(db, person.id) : undefined;
  const memberships = person ? await membershipsOf(db, person) : [];
  return {
    set_up: await isSetUp(db),
    member:
      person && user
        ? {
            id: user.id,
            name: user.name,
            email: user.email,
            two_factor: user.twoFactor,
            session_id: person.sessionId,
          }
        : null,
    organizations: memberships.map((one) => ({
      id: one.id,
      name: one.name,
      role: one.role,
      requires_two_factor: one.requiresTwoFactor,
      must_set_up_two_factor: one.lacksFactor,
      wants_digest: one.wantsDigest,
    })),
    projects: person ? (await access.rolesOf(person.id)).size : 0,
    installation: {
      public_url: installation.publicUrl,
      test_inbox: installation.relay === null,
      // A caller without a session learns nothing about the relay.
      relay: person ? installation.relay : null,
      mail_from: person ? installation.mailFrom : null,
      has_model: installation.hasModel,
      version: release.version,
    },
  };
}
