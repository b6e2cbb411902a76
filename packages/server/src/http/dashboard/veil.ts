import { allows, type LetterHeader, type Role } from '@beckon/contract/dashboard';
import { Fault } from '../../base/fault.ts';
import { type ReadMail, veilSeals } from '../../features/test-inbox/index.ts';

export type Veil = (text: string) => string;

/**
 * Letters to the team lead to an account, so nobody reads them here as they are: whoever may only look would come in as an owner.
 * Letters to people lead to what those people choose; who writes letters may see where.
 */
export function veilOf(role: Role, { draftId }: { draftId: string | null }): Veil {
  return draftId !== null && allows(role, 'editor') ? (text) => text : veilSeals;
}

export function veilMail(
  mail: ReadMail,
  veil: Veil,
): Pick<ReadMail, 'html' | 'text'> & { headers: LetterHeader[] } {
  const headers = mail.headers.map(({ name, value }) => ({ name, value: veil(value) }));
  return { html: veil(mail.html), text: veil(mail.text), headers };
}

/** The bytes themselves cannot be veiled. */
export function requireForPerson({ draftId }: { draftId: string | null }): void {
  if (draftId !== null) return;
  const message =
    'An email to a member contains a link to their account, so its source is not shown. To let a member in, run beckon-server reset-access';
  throw new Fault('role_required', { details: [{ message }] });
}
