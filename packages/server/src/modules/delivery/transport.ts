import type { ReplyClass } from '../outcomes/index.ts';
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

/**
 * `unknown`: the email may have arrived, and is never sent again automatically. `deferred`: it was certainly not accepted, and is tried
 * again later. If only the relay was the cause (`isRelays`), it is tried until the draft expires. `reply` is the text of a server, and
 * `bounce` its meaning.
 */
export type TransportResult =
  | { result: 'sent'; reply?: string; relayId?: string | null }
  | { result: 'failed'; reason: string; reply?: string; bounce?: RelayRefusal }
  | {
      result: 'deferred';
      reason: string;
      reply?: string;
      slowDown?: boolean;
      isRelayFault?: boolean;
      bounce?: RelayRefusal;
    }
  | { result: 'unknown'; reason: string };

/** `status`: the enhanced status code, such as `5.1.1`. */
export type RelayRefusal = { class: ReplyClass; status: string | null };

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
  submit(email: TransportEmail): Promise<TransportResult>;
};
