/** An entry of the audit log. `projectId` is 0 for an action that concerns the team or the installation rather than a project. */
export type AuditEntry = {
  projectId: number;
  /** The organizations that the entry belongs to if it concerns no project. Their current members can read it. */
  organizationIds: string[];
  id: string;
  at: Date;
  /** `team:<id>`, `local-shell`, or `operator` for a command of `beckon-server`. */
  actor: string;
  /** The name at that time: members leave, and their entries stay. */
  actorName: string;
  /** The label of the personal access token that was used, or null for the dashboard and for commands. */
  token: string | null;
  /** Noun and verb, such as `draft.approve`. */
  action: string;
};

/** The subject of the action and its state before and after. */
export type Difference = { subject?: string; before?: unknown; after?: unknown };

export type ListedEntry = Omit<AuditEntry, 'organizationIds'> & {
  subject: string | null;
  before: unknown;
  after: unknown;
  /** False if the action was started and its end is not recorded. */
  isCompleted: boolean;
};

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
