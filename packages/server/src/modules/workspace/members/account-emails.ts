import type { Role } from '@beckon/contract/dashboard';
import type { SignedInMember } from './team.ts';
import { Fault } from '../../../platform/fault.ts';

/** Sends emails about an account to its member, such as an invitation, from this installation. */
export type AccountEmails = {
  /** False if there is a relay but no `MAIL_FROM`: these emails have no sender then. */
  isAvailable: boolean;
  /** Returns false if the email was not accepted. A caller shows the link instead, so this is no reason to fail. */
  send: (email: AccountEmail) => Promise<boolean>;
};

/** An email is filed under a project, where the test inbox lists it. */
type AccountEmail = { projectId: number; to: string; email: { subject: string; text: string } };

type Email = { subject: string; text: string };
type Offer = { url: string; expiresAt: Date };

export function inviteEmail(
  { organization, role, by }: { organization: string; role: Role; by: string },
  { url, expiresAt }: Offer,
): Email {
  return {
    subject: `${by} invites you to ${organization} on Beckon`,
    text: [
      `${by} invites you to ${organization}, as ${role}.`,
      '',
      `Join here: ${url}`,
      '',
      `The link works once, until ${expiresAt.toISOString()}. If you do not know ${by}, ignore this email.`,
      '',
    ].join('\n'),
  };
}

export function resetEmail({ url, expiresAt }: Offer): Email {
  return {
    subject: 'Your new password for Beckon',
    text: [
      'A new password was requested for your account.',
      '',
      `Choose it here: ${url}`,
      '',
      `The link works once, until ${expiresAt.toISOString()}. If you did not request it, ignore this email. Your password stays the same.`,
      '',
    ].join('\n'),
  };
}

export function testEmail(publicUrl: string): Email {
  return {
    subject: 'Test email from Beckon',
    text: [`This test email was sent by Beckon at ${publicUrl}.`, '', 'No action is needed.', ''].join('\n'),
  };
}

/** Returns the recipient of a test email: the named address, or the member who requests it. */
export function testRecipient(to: string | undefined, { email }: Pick<SignedInMember, 'email'>): string {
  const recipient = to ?? email;
  if (recipient !== '') return recipient;
  const message = '`to` is required: the local shell has no email address.';
  throw new Fault('validation_failed', { details: [{ message, field: 'to' }] });
}
