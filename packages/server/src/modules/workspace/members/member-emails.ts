import type { Role } from '@beckon/contract/dashboard';

type Letter = { subject: string; text: string };
type Offer = { url: string; expiresAt: Date };

export function inviteLetter(
  { organization, role, by }: { organization: string; role: Role; by: string },
  { url, expiresAt }: Offer,
): Letter {
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

export function resetLetter({ url, expiresAt }: Offer): Letter {
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

export function testLetter(publicUrl: string): Letter {
  return {
    subject: 'Test email from Beckon',
    text: [`This test email was sent by Beckon at ${publicUrl}.`, '', 'No action is needed.', ''].join('\n'),
  };
}
