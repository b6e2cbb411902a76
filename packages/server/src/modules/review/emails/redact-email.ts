import { allows, type EmailHeader, type Role } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { type ReadMail, redactTokens } from '../../sending/index.ts';

export type Redact = (text: string) => string;

/**
 * Redacts the links of an email for this role. A link in an email to a member leads to their account, so it is redacted for every role.
 * Otherwise a viewer could sign in as an owner. A link in an email to a user leads to that user's preferences, and editors may see it.
 */
export function redactFor(role: Role, { draftId }: { draftId: string | null }): Redact {
  return draftId !== null && allows(role, 'editor') ? (text) => text : redactTokens;
}

export function redactMail(
  mail: ReadMail,
  redact: Redact,
): Pick<ReadMail, 'html' | 'text'> & { headers: EmailHeader[] } {
  const headers = mail.headers.map(({ name, value }) => ({ name, value: redact(value) }));
  return { html: redact(mail.html), text: redact(mail.text), headers };
}

/** Refuses the source of an email to a member, because raw bytes cannot be redacted. */
export function requireForPerson({ draftId }: { draftId: string | null }): void {
  if (draftId !== null) return;
  const message =
    'An email to a member contains a link to their account, so its source is not shown. To let a member in, run beckon-server reset-access';
  throw new Fault('role_required', { details: [{ message }] });
}
