import {
  FILTER_KEYS,
  type InviteListed,
  type ListResponse,
  type MemberListed,
  type OrganizationDetails,
  type Role,
} from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { type AccountEmails, inviteEmail, testEmail } from './account-emails.ts';
import { changeRole, removeMember } from './members.ts';
import { deleteInvite, listInvites, lockOrganization, updateOrganization } from './store.ts';
import { findOrganizationOf, listMembers, type MemberRow } from './reads.ts';
import { isLocalShell } from './local-shell.ts';
import type { SingleUseLink } from './link.ts';
import type { SignedInMember } from './team.ts';
import { offerInvite } from './links.ts';
import { readEmail, readName } from './make-person.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { matches, WORDS, wordsText } from '../../../platform/filter/filter.ts';
import { readFilter } from '../../../platform/filter/parse.ts';
import { type CsvColumns, sendCsv } from '../dashboard-api/csv.ts';
import { type ListQuery, pageOfAll, wholeList } from '../dashboard-api/pages.ts';
import { type KitDeps, routesFor } from '../dashboard-api/route.ts';
import { zoneOfProject } from '../projects/project-settings.ts';
import type { Installation } from './installation.ts';

type Deps = KitDeps & { accountEmails: AccountEmails; installation: Installation };
const { route } = routesFor<Deps>();

/** The members of a project's organization, and their roles. */
export const memberRoutes = [
  route('GET /projects/:project/organization', {
    needs: 'viewer',
    scope: 'admin',
    handle: async ({ db }, { projectId }) => ({
      data: await organizationOf(db, projectId),
    }),
  }),
  route('POST /projects/:project/organization', {
    needs: 'owner',
    audit: 'organization.update',
    async handle({ db }, { projectId, body, member, note }) {
      const { id } = await organizationOf(db, projectId);
      const [before, after] = await db.transaction(async (tx) => {
        const was = await lockOrganization(tx, id);
        if (!was) throw new Fault('not_found');
        const { requires_two_factor = was.requires_two_factor } = body;
        if (requires_two_factor && !was.requires_two_factor) await requireCallerFactor(tx, id, member);
        const name = body.name === undefined ? was.name : readName(body.name);
        const changed = { id, name, requires_two_factor };
        await updateOrganization(tx, changed);
        return [was, changed];
      });
      note({ subject: after.name, before, after });
      return { data: after };
    },
  }),
  route('GET /projects/:project/members', {
    needs: 'viewer',
    scope: 'admin',
    handle: ({ db }, { projectId, query, member }) => memberPage(db, { projectId, member, ...query }),
  }),
  route('GET /projects/:project/members.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'members.export',
    handle: ({ db }, { projectId, query, member, reply }) =>
      sendCsv(reply, {
        name: 'team.csv',
        columns: CSV_COLUMNS,
        load: (page) => memberPage(db, { projectId, member, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/members/:member/role', {
    needs: 'admin',
    audit: 'member.change_role',
    async handle({ db }, { projectId, params, body, role: by, member, note }) {
      const { id: organizationId } = await organizationOf(db, projectId);
      const userId = await findMemberId(db, organizationId, params.member);
      const change = { organizationId, userId, by, role: body.role };
      const at = new Date(db.clock.now());
      const { before, after } = await db.transaction((tx) => changeRole(tx, { ...change, at }));
      note({ subject: after.email, before: { role: before.role }, after: { role: after.role } });
      return { data: asSeenBy(member, after) };
    },
  }),
  route('POST /projects/:project/members/:member/remove', {
    needs: 'admin',
    audit: 'member.remove',
    async handle({ db }, { projectId, params, role: by, note }) {
      const { id: organizationId } = await organizationOf(db, projectId);
      const userId = await findMemberId(db, organizationId, params.member);
      const change = { organizationId, userId, by };
      const was = await db.transaction((tx) => removeMember(tx, change));
      note({ subject: was.email, before: { role: was.role } });
      return { data: { removed: true } };
    },
  }),
];

export const inviteRoutes = [
  route('GET /projects/:project/invites', {
    needs: 'admin',
    async handle({ db, access }, { projectId }) {
      const { id } = await organizationOf(db, projectId);
      const links = await listInvites(db, id, new Date(db.clock.now()));
      const names = await access.namesOf(links.map(({ createdBy }) => createdBy));
      return wholeList(links.map((link) => toInvite(link, names)));
    },
  }),
  route('POST /projects/:project/invites', {
    needs: 'admin',
    audit: 'invite.send',
    async handle(deps, { projectId, body, role: byRole, actor: by, member, note }) {
      const { db, installation } = deps;
      const organization = await organizationOf(db, projectId);
      const [email, role] = [readEmail(body.email), body.role];
      const inviting = { organizationId: organization.id, email, role, by, byRole };
      const { url, link } = await offerInvite(db, installation.publicUrl, inviting);
      const words = { organization: organization.name, role, by: member.name };
      const invitation = inviteEmail(words, { url, expiresAt: link.expiresAt });
      const mailed = await deps.accountEmails.send({ projectId, to: email, email: invitation });
      note({ subject: email, after: { role } });
      return { data: { ...toInvite(link, new Map([[by, member.name]])), link: url, emailed: mailed } };
    },
  }),
  route('POST /projects/:project/invites/:invite/revoke', {
    needs: 'admin',
    audit: 'invite.revoke',
    async handle({ db }, { projectId, params, note }) {
      const { id: organizationId } = await organizationOf(db, projectId);
      const id = await findInviteId(db, organizationId, params.invite);
      const gone = await deleteInvite(db, { id, organizationId });
      if (!gone) throw new Fault('not_found');
      note({ subject: gone.email ?? '', before: { role: gone.role } });
      return { data: { revoked: true } };
    },
  }),
  route('POST /projects/:project/test-email', {
    needs: 'viewer',
    isAccount: true,
    scope: 'admin',
    audit: 'team.send_test_email',
    async handle(deps, { projectId, member, note }) {
      const email = testEmail(deps.installation.publicUrl);
      if (!(await deps.accountEmails.send({ projectId, to: member.email, email }))) {
        const message =
          deps.installation.mailFrom === null
            ? 'Emails to members require MAIL_FROM, which is not set'
            : 'The relay rejected the email. The server log has its reply';
        throw new Fault('conflict', { details: [{ message }] });
      }
      note({ subject: member.email });
      return { data: { to: member.email, test_inbox: deps.installation.relay === null } };
    },
  }),
];

/** Members and invitations are addressed by their id or, on the command line, by email address; no id has an `@`. */
async function findMemberId(tx: Tx, organizationId: string, reference: string): Promise<string> {
  if (!reference.includes('@')) return reference;
  const email = reference.toLowerCase();
  const found = (await listMembers(tx, organizationId)).find((candidate) => candidate.email === email);
  if (found) return found.id;
  const message = `${email} is not a member of this organization`;
  throw new Fault('not_found', { details: [{ message, field: 'member' }] });
}

async function findInviteId(db: Deps['db'], organizationId: string, reference: string): Promise<string> {
  if (!reference.includes('@')) return reference;
  const email = reference.toLowerCase();
  const invites = await listInvites(db, organizationId, new Date(db.clock.now()));
  const found = invites.find((candidate) => candidate.email === email);
  if (found) return found.id;
  const message = `There is no open invitation for ${email}`;
  throw new Fault('not_found', { details: [{ message, field: 'invite' }] });
}

async function organizationOf(tx: Tx, projectId: number): Promise<OrganizationDetails> {
  const found = await findOrganizationOf(tx, projectId);
  if (!found) throw new Fault('not_found');
  return found;
}

/** A member without an authenticator app would lock themselves out. The local shell signs in with none. */
async function requireCallerFactor(tx: Tx, organizationId: string, member: SignedInMember): Promise<void> {
  if (isLocalShell(member)) return;
  const row = (await listMembers(tx, organizationId)).find(({ id }) => id === member.id);
  if (row?.two_factor) return;
  const message = 'Set up your own authenticator app first, or you would be locked out too';
  throw new Fault('conflict', { details: [{ message, field: 'requires_two_factor' }] });
}

type MembersQuery = ListQuery & { projectId: number; member: SignedInMember; filter?: string };

async function memberPage(
  tx: Tx,
  { projectId, member, filter: text, ...page }: MembersQuery,
): Promise<ListResponse<MemberListed>> {
  const filter = readFilter(text, FILTER_KEYS.team, await zoneOfProject(tx, projectId));
  const { id } = await organizationOf(tx, projectId);
  const rows = (await listMembers(tx, id)).filter(({ name, email, role, two_factor, joined_at: joined }) =>
    matches(filter, {
      name,
      email,
      role,
      two_factor: two_factor ? 'yes' : 'no',
      joined,
      [WORDS]: wordsText([name, email]),
    }),
  );
  return pageOfAll(
    rows.map((row) => asSeenBy(member, row)),
    page,
  );
}

const CSV_COLUMNS: CsvColumns<MemberListed> = {
  name: ({ name }) => name,
  email: ({ email }) => email,
  role: ({ role }) => role,
  two_factor: ({ two_factor: isSetUp }) => isSetUp,
  joined_at: ({ joined_at: at }) => at,
  last_seen_at: ({ last_seen_at: at }) => at,
};

function asSeenBy({ id }: SignedInMember, row: MemberRow): MemberListed {
  return { ...row, is_you: row.id === id };
}

function toInvite(link: SingleUseLink, names: ReadonlyMap<string, string>): InviteListed {
  const role: Role = link.role ?? 'viewer';
  return {
    id: link.id,
    email: link.email ?? '',
    role,
    created_at: link.createdAt.toISOString(),
    expires_at: link.expiresAt.toISOString(),
    by: names.get(link.createdBy) ?? null,
  };
}
