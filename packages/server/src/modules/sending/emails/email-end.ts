/** How a message ended, or the state in which it waits for another attempt. */
export type MessageEnd = {
  projectId: number;
  draftId: string;
  /** The epoch of the claim. Null: the current claim of any worker. */
  epoch: number | null;
  state: 'sent' | 'failed' | 'unknown' | 'deferred';
  reason: string | null;
  reply: string | null;
  relayId: string | null;
  /** The message was not submitted. It is returned only while it is claimed, and not if its holder has submitted it in the meantime. */
  isReturned?: boolean;
};

export type ResolvedMessage = Pick<MessageEnd, 'projectId' | 'draftId' | 'reason'> & {
  state: 'sent' | 'failed';
};
