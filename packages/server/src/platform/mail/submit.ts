import type { SmtpStage } from './smtp-reply.ts';
import type { Log } from '../log.ts';

/**
 * The result of submitting an email to a relay. `not_sent` is certain: the relay received nothing of the email, so it may be retried.
 * `refused` is certain too: a reply said so. `unknown` is not: the email was sent and no reply arrived, so it may have been accepted, and
 * is never resent automatically.
 */
export type HandOver =
  | { result: 'accepted'; reply: string; relayId: string | null }
  | { result: 'refused'; stage: SmtpStage; code: number; reply: string }
  | { result: 'not_sent'; stage: SmtpStage; reason: string }
  | { result: 'unknown'; reason: string };

/** Exactly one recipient, so that an email has one result. */
export type MailEnvelope = { from: string; to: string; envid: string | null };

/** Opens the relay for emails outside drafts, such as test copies, when the first of them is sent. */
export type OpenRelay = () => Promise<Pick<Relay, 'hand'>>;

export type Relay = {
  slots: number;
  hand: (envelope: MailEnvelope, mime: Uint8Array) => Promise<HandOver>;
  /** Waits for emails in flight, then aborts them. Callers that still wait for a slot get `not_sent` immediately. */
  close: (limitMs?: number) => Promise<void>;
};

export type RelayOptions = {
  /**
   * `smtp://user:pass@host:port`, or `smtps://`; `?tls=optional` allows a relay without STARTTLS, `&connections=20` sets the number of
   * connections.
   */
  url: string;
  /** Our own name in EHLO. */
  name?: string;
  /** The number of concurrent emails. */
  slots?: number;
  /** A trusted certificate besides those of Node.js, and its name if that differs from the host. */
  tls?: { ca: string; servername?: string };
  timeouts?: Partial<RelayTimeouts>;
  /** Called when the end of an email was sent, and no reply has arrived yet. */
  dotSent?: (() => void) | undefined;
  log: Log;
};

export type RelayTimeouts = {
  /** From the DNS lookup to the end of STARTTLS. */
  connectMs: number;
  /** Silence of the relay during a session. */
  silenceMs: number;
  /** For a whole email, without the wait for a slot. */
  letterMs: number;
  /** The time for which a connection is kept for the next email. */
  idleMs: number;
};
