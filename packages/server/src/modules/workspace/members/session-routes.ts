import type { OrganizationOfMine, SessionState } from '@beckon/contract/dashboard';
import { findUserById, isSetUp, listMemberships, listOrganizations } from './reads.ts';
import { isLocalShell } from './local-shell.ts';
import type { SignedInMember, WithCookies } from './team.ts';
import type { Team } from './create-team.ts';
import { lookAt } from './use-link.ts';
import { callerOf, setCookies, type SignInOutcome } from './caller.ts';
import { type KitDeps, type OpenRouteRequest, routesFor } from '../dashboard-api/route.ts';
import type { Installation, Release } from './installation.ts';

type Deps = KitDeps & { installation: Installation; release: Release; team: Team };
const { openRoute, route } = routesFor<Deps>();

/** Signing in and out, and the first request of every page. */
export const sessionRoutes = [
  openRoute('GET /session', {
    isAccount: false,
    async handle(deps, { member, request, reply }) {
      if (member && !isLocalShell(member))
        setCookies(reply, await (await deps.team.signIns()).prolong(callerOf(deps, request)));
      return { data: await stateOf(deps, member) };
    },
  }),
  openRoute('GET /links', {
    async handle({ db }, { query }) {
      const { kind, email, organization, role, hasAccount, expiresAt } = await lookAt(db, query.token);
      const expires_at = expiresAt.toISOString();
      return { data: { kind, email, organization, role, has_account: hasAccount, expires_at } };
    },
  }),
  openRoute('POST /sign-in', {
    audit: 'session.start',
    async handle(deps, input) {
      const signIns = await deps.team.signIns();
      return respond(deps, input, await signIns.signIn(callerOf(deps, input.request), input.body));
    },
  }),
  openRoute('POST /sign-in/totp', {
    audit: 'session.start',
    async handle(deps, input) {
      const [signIns, code] = [await deps.team.signIns(), input.body.code.replaceAll(' ', '')];
      const caller = callerOf(deps, input.request);
      return respond(deps, input, await signIns.signInByCode(caller, { code, kind: 'totp' }));
    },
  }),
  openRoute('POST /sign-in/backup-code', {
    audit: 'session.start',
    async handle(deps, input) {
      const [signIns, code] = [await deps.team.signIns(), input.body.code.trim()];
      const caller = callerOf(deps, input.request);
      return respond(deps, input, await signIns.signInByCode(caller, { code, kind: 'backup' }));
    },
  }),
  openRoute('POST /sign-in/passkey-options', {
    reads: true,
    async handle(deps, { request, reply }) {
      const { result: data, cookies } = await (
        await deps.team.signIns()
      ).passkeyOptions(callerOf(deps, request));
      setCookies(reply, cookies);
      return { data };
    },
  }),
  openRoute('POST /sign-in/passkey', {
    audit: 'session.start',
    async handle(deps, input) {
      const signIns = await deps.team.signIns();
      const caller = callerOf(deps, input.request);
      return respond(deps, input, await signIns.signInByPasskey(caller, input.body.response));
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

async function respond(
  { db }: Deps,
  { reply, record }: Pick<OpenRouteRequest<SignInKey>, 'reply' | 'record'>,
  { result: { memberId, needsCode }, cookies }: WithCookies<SignInOutcome>,
) {
  const member = memberId === null ? undefined : await findUserById(db, memberId);
  if (member) await record(db, { by: member, subject: member.email });
  setCookies(reply, cookies);
  return { data: { signed_in: memberId !== null, two_factor: needsCode } };
}

/** The local shell belongs to no organization, and acts as the owner of each. */
async function membershipsOf(db: Deps['db'], member: SignedInMember): Promise<OrganizationOfMine[]> {
  if (!isLocalShell(member)) return listMemberships(db, member.id);
  const organizations = await listOrganizations(db);
  return organizations.map((organization) => ({
    ...organization,
    role: 'owner',
    must_set_up_two_factor: false,
    wants_digest: false,
  }));
}

async function stateOf(deps: Deps, member: SignedInMember | null): Promise<SessionState> {
  const { db, access, installation, release } = deps;
  const user = member ? await findUserById(db, member.id) : undefined;
  return {
    set_up: await isSetUp(db),
    member:
      member && user
        ? {
            id: user.id,
            name: user.name,
            email: user.email,
            two_factor: user.twoFactor,
          }
        : null,
    organizations: member ? await membershipsOf(db, member) : [],
    projects: member ? (await access.rolesOf(member.id)).size : 0,
    installation: {
      public_url: installation.publicUrl,
      test_inbox: installation.relay === null,
      // A caller without a session learns nothing about the relay.
      relay: member ? installation.relay : null,
      mail_from: member ? installation.mailFrom : null,
      has_model: installation.hasModel,
      version: release.version,
    },
  };
}
