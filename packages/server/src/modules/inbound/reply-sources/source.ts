import type { RelaySettings } from '../../../platform/relays/adapter.ts';

/**
 * How the replies of a project reach Beckon without port 25.
 *
 * - `imap`: Beckon reads a mailbox.
 * - `postmark`: Postmark posts each email to Beckon.
 * - `http`: another service posts the raw email.
 * - `forwarding`: a mailbox forwards its emails to an address of the SMTP listener.
 */
export type ReplySourceKind = 'imap' | 'postmark' | 'http' | 'forwarding';

/**
 * What became of an email from a source.
 *
 * - `received`: it took effect, such as a reply.
 * - `repeated`: it had been received before.
 * - `unmatched`: it names no email of this project.
 * - `unproven`: it names one, but nothing proves that its recipient wrote it.
 * - `no_action`: it names one and requires no action, such as a delay notice.
 * - `full`: the email has the maximum number of replies.
 * - `unreadable`, `too_large`: it cannot be parsed, or exceeds the limit.
 */
export const SOURCE_RESULTS = [
  'received',
  'repeated',
  'unmatched',
  'unproven',
  'no_action',
  'full',
  'unreadable',
  'too_large',
] as const;
export type SourceResult = (typeof SOURCE_RESULTS)[number];

/** The reply source of a project, without its secrets. A project has at most one. */
export type ReplySource = {
  projectId: number;
  /** In the address of its webhook. */
  id: string;
  kind: ReplySourceKind;
  settings: RelaySettings;
  /** Raised by each change. */
  generation: number;
  changedAt: number;
  /** When a mailbox was last read to its end, or an email was last pushed. */
  readAt: number | null;
  /** The position in the mailbox. Null before the first read, and after a change of the account. */
  cursor: { uidValidity: number; lastUid: number } | null;
  /** How often the email after the position could not be read. */
  attempts: number;
  failing: { since: number; message: string } | null;
  counts: Partial<Record<SourceResult, number>>;
};

export type EncryptedSource = { projectId: number; id: string; generation: number; encrypted: Buffer };

/** A row that is copied to another project cannot be decrypted there. */
export function boundTo({ projectId, id }: Pick<ReplySource, 'projectId' | 'id'>): string {
  return `reply source ${projectId} ${id}`;
}
