/**
 * What the audit log keeps instead of text about users. The log outlives users who are erased, so an entry says that
 * something was written or sent, and never in which words or to whom.
 */

/** The domain of an email address: enough to recognize a mistake, and no user. */
export function addressForAudit(address: string): string {
  return `an address at ${address.slice(address.lastIndexOf('@') + 1)}`;
}

/** Where a test email went: the member's own address, or the domain of another one. */
export function testRecipientForAudit(to: string, member: { email: string }): string {
  return to.toLowerCase() === member.email.toLowerCase() ? 'their own address' : addressForAudit(to);
}
