/**
 * Replaces text about users in the audit log. The log outlives users who are erased, so an entry says that text was written or sent, but
 * never the text or its recipient.
 */

/** Returns the domain of an email address: enough to recognize a mistake, and no user. */
export function addressForAudit(address: string): string {
  return `an address at ${address.slice(address.lastIndexOf('@') + 1)}`;
}

/** Returns where a test email went: the member's own address, or the domain of another one. */
export function testRecipientForAudit(to: string, member: { email: string }): string {
  return to.toLowerCase() === member.email.toLowerCase() ? 'their own address' : addressForAudit(to);
}
