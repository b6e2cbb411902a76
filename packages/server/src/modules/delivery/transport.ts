import type { SendResult } from '../../platform/mail/send-result.ts';
import type { DraftContent } from '../drafts/index.ts';

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
};

/** The result of a claimed email. `aheadMs`: how far the clock of its project is ahead, if known. */
export type EmailResult = {
  email: { projectId: number; draftId: string; epoch: number; aheadMs?: number };
  sendResult: SendResult;
};
