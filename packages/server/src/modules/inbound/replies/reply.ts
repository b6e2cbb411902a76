/** `auto_reply`: an automatic answer, such as an out-of-office notice. It is kept in the thread and does not end any run. */
export type ReplyKind = 'reply' | 'auto_reply';

/**
 * The evidence that connects a reply with an email.
 *
 * - `recipient`: the recipient of the email sent it to the email's signed reply address.
 * - `domain`: a sender of the same organization sent it, as DMARC proves.
 * - `reference`: it did not use the signed address, but DMARC proves that it is from the recipient, and it refers to our Message-ID.
 * - `token`: another sender used the signed address, for example because the email was forwarded to them.
 * - `failed`: the domain in its From address has DMARC reject it.
 */
export type ReplySign = 'recipient' | 'domain' | 'reference' | 'token' | 'failed';

export type Reply = {
  projectId: number;
  id: string;
  /** The email that it answers. */
  messageId: string;
  draftId: string;
  userId: string;
  kind: ReplyKind;
  verified: ReplySign;
  /** In milliseconds. */
  receivedAt: number;
  fromAddress: string;
  fromName: string;
  subject: string;
  /** The text of the reply, without quoted text. */
  text: string;
  /** When it is forwarded next. Null: it was forwarded already, or is not forwarded. */
  forwardAt: number | null;
  forwardAttempts: number;
  forwardedAt: number | null;
  /** Why the last attempt to forward it failed. */
  forwardError: string | null;
};

export type NewReply = Omit<Reply, 'forwardAttempts' | 'forwardedAt' | 'forwardError'> & {
  /** Identifies the incoming message when it arrives again. */
  inboundId: string;
  /** The whole message, as long as it waits to be forwarded. */
  raw: Uint8Array | null;
};

export const REPLIES_OF_LETTER_MAX = 100;
export const REPLIES_PAGE_MAX = 1_000;
export const REPLY_RAW_MAX_BYTES = 10 * 1024 * 1024;
/** A reply that could not be forwarded within this time is only shown here, without its attachments. */
export const REPLY_RAW_KEPT_MS = 30 * 86_400_000;
