/** `auto_reply`: of a machine that answers for somebody; it is kept in the thread and stops nothing. */
export type ReplyKind = 'reply' | 'auto_reply';

/**
 * By which sign it belongs to the letter. `recipient`: it came to the sealed address of the letter from whom the letter went
 * to. `domain`: from somebody of the same organization, as DMARC proves. `reference`: without that address, from the
 * recipient as DMARC proves, and it names our Message-ID. `token`: to the sealed address from anybody else, such as one
 * to whom the letter was passed on. `failed`: the domain that it says to be from has it refused.
 */
export type ReplySign = 'recipient' | 'domain' | 'reference' | 'token' | 'failed';

export type Reply = {
  projectId: number;
  id: string;
  /** Which letter it answers. */
  messageId: string;
  draftId: string;
  userId: string;
  kind: ReplyKind;
  verified: ReplySign;
  /** Milliseconds. */
  receivedAt: number;
  fromAddress: string;
  fromName: string;
  subject: string;
  /** What was written, without what it quotes. */
  text: string;
  /** When it is handed on next; null: it was, or is not to be. */
  forwardAt: number | null;
  forwardAttempts: number;
  forwardedAt: number | null;
  /** Why it could not be handed on, the last time. */
  forwardError: string | null;
};

export type NewReply = Omit<Reply, 'forwardAttempts' | 'forwardedAt' | 'forwardError'> & {
  /** By which it is known when it comes once more. */
  inboundId: string;
  /** All of it, as long as it waits to be handed on. */
  raw: Uint8Array | null;
};

export const REPLIES_OF_LETTER_MAX = 100;
export const REPLIES_PAGE_MAX = 1_000;
export const REPLY_RAW_MAX_BYTES = 10 * 1024 * 1024;
/** Whatever could not be handed on within this time is shown here, without its attachments. */
export const REPLY_RAW_KEPT_MS = 30 * 86_400_000;
