import { Fault } from '../../../platform/fault.ts';
import { type AccountEmails, resetEmail } from './account-emails.ts';
import { countAddress } from './attempts.ts';
import { findProjectOfMember, findUserByEmail } from './reads.ts';
import type { Team } from './create-team.ts';
import { acceptInvite, resetPassword } from './use-link.ts';
import { checkPassword, readEmail, readName } from './make-person.ts';
import { offerReset } from './links.ts';
import { type KitDeps, type OpenRouteRequest, routesFor } from '../dashboard-api/route.ts';
import { callerOf, setCookies } from './caller.ts';
import { notifyMember } from './notices.ts';
import type { Installation } from './installation.ts';

type Deps = KitDeps & { accountEmails: AccountEmails; installation: Installation; team: Team };
const { openRoute } = routesFor<Deps>();

/** The routes of links: an invitation and a new password. */
export const linkRoutes = [
  openRoute('POST /invites/accept', {
    audit: 'invite.accept',
    async handle(deps, input) {
      const { body, member: person, record } = input;
      const { token, password } = body;
      const isNew = password !== undefined;
      const newcomer = isNew
        ? {
            name: readName(body.name ?? ''),
            passwordHash: await hashNewPassword(deps, { ...input, body: { password } }),
          }
        : null;
      const accepting = { token, member: person, newcomer };
      const { memberId, email, organization, role } = await acceptInvite(deps.db, accepting, (tx, joined) => {
        const by = { id: joined.memberId, name: joined.name };
        const after = { organization: joined.organization, role: joined.role };
        return record(tx, { by, organizationId: joined.organizationId, subject: joined.email, after });
      });
      if (isNew && person?.id !== memberId) await signInWith(deps, { ...input, body: { password } }, email);
      return { data: { organization, role } };
    },
  }),
  openRoute('POST /reset', {
    audit: 'password.reset',
    async handle(deps, input) {
      const passwordHash = await hashNewPassword(deps, input);
      const { member, endsTwoFactor } = await resetPassword(
        deps.db,
        { token: input.body.token, passwordHash },
        (tx, account) => input.record(tx, { by: account, subject: account.email }),
      );
      notifyMember(deps, input.request, { member, change: { kind: 'password_reset', endsTwoFactor } });
      return { data: { reset: true } };
    },
  }),
  openRoute('POST /forgot', {
    reads: true,
    async handle(deps, { body, request }) {
      const email = readEmail(body.email);
      await (await deps.team.signIns()).countResetRequest(callerOf(deps, request), email);
      // Runs after the response: its duration would reveal which addresses have an account.
      mailReset(deps, email).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'password_reset.not_emailed'),
      );
      return { data: { requested: true } };
    },
  }),
];

type WithPassword = Pick<OpenRouteRequest<'POST /reset'>, 'request' | 'reply'> & {
  body: { password: string };
};

/** Hashing is expensive on purpose, so a client that sends link after link is limited before it. */
export async function hashNewPassword(deps: Deps, { request, body }: WithPassword): Promise<string> {
  checkPassword(body.password);
  const { address } = callerOf(deps, request);
  await countAddress(deps, address);
  return (await deps.team.signIns()).hashPassword(body.password);
}

/** A member who was just created has nothing to guess: this sign-in counts as no attempt, and other attempts do not block it. */
export async function signInWith(
  deps: Deps,
  { request, reply, body }: WithPassword,
  email: string,
): Promise<void> {
  const signIns = await deps.team.signIns();
  const { cookies } = await signIns.openSession(callerOf(deps, request), { email, password: body.password });
  setCookies(reply, cookies);
}

async function mailReset(deps: Deps, email: string): Promise<void> {
  const { db, installation } = deps;
  const user = await findUserByEmail(db, email);
  const projectId = user && (await findProjectOfMember(db, user.id));
  if (!user || projectId === undefined) return;
  // A link that is never sent would only invalidate one that is on its way.
  if (!deps.accountEmails.isAvailable) throw notMailed();
  const offered = await offerReset(db, installation.publicUrl, { email, by: `team:${user.id}` });
  if (!offered) return;
  const content = resetEmail({ url: offered.url, expiresAt: offered.link.expiresAt });
  if (!(await deps.accountEmails.send({ projectId, to: email, email: content }))) throw notMailed();
}

function notMailed(): Fault {
  return new Fault('conflict', {
    details: [{ message: 'The email could not be sent. Check MAIL_FROM and the relay' }],
  });
}
