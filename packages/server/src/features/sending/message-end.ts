/** How a message ended, or in what it waits for another attempt. */
export type MessageEnd = {
  projectId: number;
  draftId: string;
  /** With which it was claimed; null: of whoever has it. */
  epoch: number | null;
  state: 'sent' | 'failed' | 'unknown' | 'deferred';
  reason: string | null;
  reply: string | null;
  relayId: string | null;
  /** It was not handed over: so it is only while it is claimed, and not where whoever has it has submitted it by now. */
  isReturned?: boolean;
};

export type ResolvedMessage = Pick<MessageEnd, 'projectId' | 'draftId' | 'reason'> & {
  state: 'sent' | 'failed';
};
