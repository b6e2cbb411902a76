import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

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
  emailId: string;
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

export const REPLIES_OF_EMAIL_MAX = 100;
export const REPLIES_PAGE_MAX = 1_000;
const REPLY_RAW_MAX_BYTES = 10 * 1024 * 1024;

export type ReplyRow = {
  project_id: number;
  id: string;
  email_id: string;
  draft_id: string;
  external_user_id: string;
  kind: ReplyKind;
  verified: ReplySign;
  received_at: Date;
  from_address: string;
  from_name: string;
  subject: string;
  text: string;
  forward_at: Date | null;
  forward_attempts: number;
  forwarded_at: Date | null;
  forward_error: string | null;
};

export const COLUMNS = `r.project_id, r.id, r.email_id, r.draft_id, r.external_user_id, r.kind, r.verified, r.received_at,
  r.from_address, r.from_name, r.subject, r.text, r.forward_at, r.forward_attempts, r.forwarded_at, r.forward_error`;

export function toReply(row: ReplyRow): Reply {
  return {
    projectId: row.project_id,
    id: row.id,
    emailId: row.email_id,
    draftId: row.draft_id,
    userId: row.external_user_id,
    kind: row.kind,
    verified: row.verified,
    receivedAt: row.received_at.getTime(),
    fromAddress: row.from_address,
    fromName: row.from_name,
    subject: row.subject,
    text: row.text,
    forwardAt: row.forward_at?.getTime() ?? null,
    forwardAttempts: row.forward_attempts,
    forwardedAt: row.forwarded_at?.getTime() ?? null,
    forwardError: row.forward_error,
  };
}

export function packRaw(raw: Uint8Array): Buffer {
  return zstdCompressSync(raw);
}

export function unpackRaw(packed: Uint8Array): Buffer {
  return zstdDecompressSync(packed, { maxOutputLength: REPLY_RAW_MAX_BYTES });
}
