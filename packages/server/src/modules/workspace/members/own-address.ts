import { Fault } from '../../../platform/fault.ts';
import type { Person } from './team.ts';

/** Returns the recipient of a test email: the named address, or the member who requests it. */
export function testRecipient(to: string | undefined, { email }: Pick<Person, 'email'>): string {
  const recipient = to ?? email;
  if (recipient !== '') return recipient;
  const message = '`to` is required: the local shell has no email address.';
  throw new Fault('validation_failed', { details: [{ message, field: 'to' }] });
}
