import type { SmtpStage } from '../../base/bounce/index.ts';
import type { Log } from '../../base/log.ts';

/**
 * What became of a letter given to a relay. `not_sent` is certain: nothing of the letter was read, so it may be tried
 * again. `refused` is certain too: a reply said so. `unknown` is neither: the letter went out and no reply came back, so
 * it may have been accepted, and is never sent again by itself.
 */
export type HandOver =
  | { result: 'accepted'; reply: string; relayId: string | null }
  | { result: 'refused'; stage: SmtpStage; code: number; reply: string }
  | { result: 'not_sent'; stage: SmtpStage; reason: string }
  | { result: 'unknown'; reason: string };

/** One recipient: what becomes of a letter is then one answer. */
export type MailEnvelope = { from: string; to: string; envid: string | null };

export type Relay = {
  slots: number;
  hand: (envelope: MailEnvelope, mime: Uint8Array) => Promise<HandOver>;
  /** Waits for letters in flight, then cuts them off; whoever still waits for a slot hears `not_sent` at once. */
  close: (limitMs?: number) => Promise<void>;
};

export type RelayOptions = {
  /** `smtp://user:pass@host:port`, or `smtps://`; `?tls=optional` allows a relay without STARTTLS,
   * `&connections=20` that many at a time. */
  url: string;
  /** What we call ourselves in EHLO. */
  name?: string;
  /** How many letters at a time. */
  slots?: number;
  /** A certificate to trust beside those that come with Node, and the name that it bears where that is another. */
  tls?: { ca: string; servername?: string };
  timeouts?: Partial<RelayTimeouts>;
  /** The end of a letter is on its way, and nothing is heard yet. */
  dotSent?: (() => void) | undefined;
  log: Log;
};

export type RelayTimeouts = {
  /** From the name to the end of STARTTLS. */
  connectMs: number;
  /** Silence of the relay in the middle of a conversation. */
  silenceMs: number;
  /** All of a letter, waiting for a slot left out. */
  letterMs: number;
  /** How long a connection is kept for the next letter. */
  idleMs: number;
};
