/** How a email ended, or the state in which it waits for another attempt. */
export type EmailEnd = {
  projectId: number;
  draftId: string;
  /** The epoch of the claim. Null: the current claim of any worker. */
  epoch: number | null;
  state: 'sent' | 'failed' | 'unknown' | 'deferred';
  reason: string | null;
  reply: string | null;
  relayId: string | null;
  /** The email was not submitted. It is returned only while it is claimed, and not if its holder has submitted it in the meantime. */
  isReturned?: boolean;
};

export type ResolvedEmail = Pick<EmailEnd, 'projectId' | 'draftId' | 'reason'> & {
  state: 'sent' | 'failed';
};
