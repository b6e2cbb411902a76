import type { ReplyClass } from '../../base/bounce/index.ts';
import type { Content } from '../../features/drafts/index.ts';

/** A letter that may leave, as it was approved or fell due, and as it is handed over. */
export type OutgoingLetter = {
  projectId: number;
  draftId: string;
  messageId: string;
  userId: string;
  address: string;
  content: Content;
  /** The envelope, and the letter itself: the same bytes at every attempt. */
  mailFrom: string;
  rcptTo: string;
  mime: Uint8Array;
};

/**
 * `unknown`: it may have arrived, and is never tried again by itself. `deferred`: it certainly was not taken, and is tried
 * again later; where that was the relay's doing and nobody else's (`isRelays`), for as long as the draft is worth it. Of what a
 * server said, `reply` is the text, and `bounce` what that means.
 */
export type Handed =
  | { result: 'sent'; reply?: string; relayId?: string | null }
  | { result: 'failed'; reason: string; reply?: string; bounce?: Refusal }
  | {
      result: 'deferred';
      reason: string;
      reply?: string;
      slowDown?: boolean;
      isRelays?: boolean;
      bounce?: Refusal;
    }
  | { result: 'unknown'; reason: string };

/** `status`: the enhanced one, such as `5.1.1`. */
export type Refusal = { class: ReplyClass; status: string | null };

/** What hands letters over. It answers for each letter once. */
export type Transport = {
  /** How many letters at a time. */
  slots?: number;
  /** While nobody is there to take letters: when it may be tried again. */
  closedUntil?(now: number): number | null;
  /** It failed lately: one letter is to go first. */
  isDoubtful?(): boolean;
  /** Nothing is handed to it for so long. */
  pause?(ms: number): void;
  hand(letter: OutgoingLetter): Promise<Handed>;
};
