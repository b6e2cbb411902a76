import type { SendResult } from '../../platform/mail/send-result.ts';
import type { DraftContent } from '../drafts/index.ts';
import type { RelayRef } from '../sending/index.ts';

/** An email that may be sent, as it was approved or fell due. */
export type TransportEmail = {
  projectId: number;
  draftId: string;
  emailId: string;
  userId: string;
  address: string;
  content: DraftContent;
  /** The envelope and the email itself: the same bytes at every attempt. */
  mailFrom: string;
  rcptTo: string;
  mime: Uint8Array;
};

/** Opens a connection to a relay, and keeps it for as long as the caller uses it. */
export type OpenRelayTransport = (relay: RelayRef) => Transport;

/** Sends emails, and returns one result for each. */
export type Transport = {
  /** How many emails it sends at a time. */
  slots?: number;
  /** Returns when it may be tried again, while it accepts no emails. */
  closedUntil?(now: number): number | null;
  /** Returns true after a recent failure: one email has to be tried first. */
  isDoubtful?(): boolean;
  /** Sends nothing for this long. */
  pause?(ms: number): void;
  submit(email: TransportEmail): Promise<SendResult>;
  /** Closes its connections, after the emails that are being sent. Nothing is submitted afterwards. */
  close?(): Promise<void>;
};

/**
 * The result of a claimed email. `aheadMs`: how far the clock of its project is ahead, if known. `relay`: the relay that it was submitted
 * to, if that is not the one of `SMTP_URL`.
 */
export type EmailResult = {
  relay?: RelayRef | null;
  email: { projectId: number; draftId: string; epoch: number; aheadMs?: number };
  sendResult: SendResult;
};
