import type { TokenScope } from '@beckon/contract/dashboard';
import type { FastifyRequest } from 'fastify';
import type { KitDeps } from '../dashboard-api/route.ts';
import type { AccountEmails } from './account-emails.ts';
import { callerOf } from './caller.ts';
import { findProjectOfMember } from './reads.ts';
import type { Installation } from './installation.ts';

type Deps = KitDeps & { installation: Installation; accountEmails: AccountEmails };

type Notice = { member: { id: string; email: string }; change: AccountChange };

/**
 * Emails the member about a change to how their account is signed in to. The response does not wait for it, because a relay that hangs must
 * not delay the change. A notice that could not be sent is a warning in the log.
 */
export function notifyMember(deps: Deps, request: FastifyRequest, notice: Notice): void {
  send(deps, request, notice).catch((error: unknown) =>
    deps.log.warn({ err: error, change: notice.change.kind }, 'account_change.not_emailed'),
  );
}

async function send(
  deps: Deps,
  request: FastifyRequest,
  { member: { id, email }, change }: Notice,
): Promise<void> {
  const { db, installation, accountEmails } = deps;
  const { address } = callerOf(deps, request);
  const at = new Date(db.clock.now());
  const projectId = await findProjectOfMember(db, id);
  const content = accountChangeEmail(change, { at, address, email, publicUrl: installation.publicUrl });
  // Account emails are sent by the sender of a project, and a member may have none.
  if (projectId === undefined || !(await accountEmails.send({ projectId, to: email, email: content })))
    deps.log.warn({ change: change.kind }, 'account_change.not_emailed');
}

/** A change to how an account is signed in to. Its address is notified. */
type AccountChange =
  | { kind: 'passkey_added'; name: string }
  | { kind: 'program_approved'; label: string; scopes: TokenScope[]; address: string }
  | { kind: 'password_changed'; endsPasskeysAndTokens: boolean }
  | { kind: 'password_reset'; endsTwoFactor: boolean }
  | { kind: 'two_factor_on' }
  | { kind: 'two_factor_off' }
  | { kind: 'backup_codes_replaced' };

/** `address`: the network address of the request. */
type ChangeContext = { at: Date; address: string; email: string; publicUrl: string };

type Words = { subject: string; text: string };

/** An email to the member. It has no secret and no link that signs in, so it is safe in a mailbox that others read. */
function accountChangeEmail(change: AccountChange, { at, address, email, publicUrl }: ChangeContext): Words {
  const { subject, what } = wordsOf(change);
  const origin = publicUrl.replace(/\/$/, '');
  return {
    subject: `${subject} your Beckon account`,
    text: [
      what,
      '',
      `Account: ${email}`,
      `Time: ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      `Requested from: ${address}`,
      '',
      'If this was you, nothing more is needed.',
      '',
      'If this was not you, choose a new password now. At the address below, select "I forgot my password".',
      'A password change through that link ends all sessions, passkeys and personal tokens of your account.',
      'Then contact an admin of your organization.',
      '',
      `${origin}/sign-in`,
      '',
    ].join('\n'),
  };
}

function wordsOf(change: AccountChange): { subject: string; what: string } {
  switch (change.kind) {
    case 'passkey_added':
      return {
        subject: 'A passkey was added to',
        what: `The passkey ${quoted(change.name)} was added to your Beckon account. It signs in without a password.`,
      };
    case 'program_approved':
      return {
        subject: 'A program was approved for',
        what: `The program ${quoted(change.label)} was approved for your Beckon account. The request came from ${change.address}, and the program gets a personal token for 90 days (${change.scopes.join(', ')}).`,
      };
    case 'password_changed':
      return {
        subject: 'The password was changed for',
        what: `The password of your Beckon account was changed. All other sessions ended. ${
          change.endsPasskeysAndTokens
            ? 'All passkeys and personal tokens ended too.'
            : 'Passkeys and personal tokens were kept.'
        }`,
      };
    case 'password_reset':
      return {
        subject: 'The password was reset for',
        what: `The password of your Beckon account was set through a link. All sessions, passkeys and personal tokens ended. ${
          change.endsTwoFactor ? 'The authenticator app was removed.' : ''
        }`.trim(),
      };
    case 'two_factor_on':
      return {
        subject: 'An authenticator app was added to',
        what: 'An authenticator app was set up for your Beckon account. Its code is required after the password.',
      };
    case 'two_factor_off':
      return {
        subject: 'The authenticator app was removed from',
        what: 'The authenticator app was removed from your Beckon account. The password alone signs in.',
      };
    case 'backup_codes_replaced':
      return {
        subject: 'New backup codes for',
        what: 'New backup codes were created for your Beckon account. The previous ones no longer work.',
      };
    default:
      return change satisfies never;
  }
}

/** An intruder may have chosen the name, so a URL in it must not become a link. */
function quoted(name: string): string {
  return `"${name.replaceAll('://', ': //')}"`;
}
