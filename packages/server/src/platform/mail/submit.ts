import type { Log } from '../log.ts';
import type { SendResult } from './send-result.ts';
import type { ReplyClassification, SmtpReply } from './smtp-reply.ts';

/** Exactly one recipient, so that an email has one result. */
export type MailEnvelope = { from: string; to: string; envid: string | null };

/** Opens the relay for emails outside drafts, such as test copies, when the first of them is sent. */
export type OpenRelay = () => Promise<Pick<Relay, 'submit'>>;

export type Relay = {
  slots: number;
  submit: (envelope: MailEnvelope, mime: Uint8Array) => Promise<SendResult>;
  /** Waits for emails in flight, then aborts them. Callers that still wait for a slot get `deferred` immediately. */
  close: (limitMs?: number) => Promise<void>;
};

export type RelayOptions = {
  /**
   * `smtp://user:pass@host:port`, or `smtps://`; `?tls=optional` allows a relay without STARTTLS, `&connections=20` sets the number of
   * connections.
   */
  url: string;
  /** Decides whether a refused email is tried again, and whether the relay is at fault. */
  classify: (reply: SmtpReply) => ReplyClassification;
  /** Returns the address to connect to. Throws if the host may not be reached. By default, the host is resolved as usual. */
  resolveHost?: ((host: string) => Promise<string>) | undefined;
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
  emailMs: number;
  /** The time for which a connection is kept for the next email. */
  idleMs: number;
};
