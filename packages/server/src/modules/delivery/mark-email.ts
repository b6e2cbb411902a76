import { emailToken, type TokenKeys } from '../../platform/crypto/email-token.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { RelayKinds } from '../../platform/relays/kinds.ts';
import type { Reporter } from '../../platform/relays/reporter.ts';
import { findSmtpUrlRelay } from '../sending/index.ts';
import type { TransportEmail } from './transport.ts';

type Marked = Pick<TransportEmail, 'projectId' | 'emailId' | 'mime'>;

/** Returns the bytes to send instead of those of an email. */
export type MarkEmail = (email: Marked) => Promise<Uint8Array>;

/**
 * Adds the header fields by which a provider returns the token of an email that it receives by SMTP. The DKIM signature does not cover
 * them, so they can be added to the signed email.
 */
export function markEmail(
  { adapter, settings }: Reporter,
  { projectId, emailId, mime }: Marked,
  tokenKeys: TokenKeys,
): Uint8Array {
  const fields =
    adapter.smtp?.headers(emailToken({ projectId, emailId }, 'relay', tokenKeys), settings) ?? [];
  const head = fields.map((field) => `${field}\r\n`).join('');
  return head === '' ? mime : Buffer.concat([Buffer.from(head), mime]);
}

/** The feedback of `SMTP_URL` is rarely added, and emails without a token are no error. */
const KNOWN_FOR_MS = 5_000;

type MarkDeps = { db: Tx; kinds: RelayKinds; tokenKeys: TokenKeys };

/** Marks the emails of the relay of `SMTP_URL`, while feedback of its provider is set up. */
export function smtpUrlMarker({ db, kinds, tokenKeys }: MarkDeps): MarkEmail {
  let known: { reporter: Reporter | undefined; until: number } = { reporter: undefined, until: -Infinity };
  return async (email) => {
    if (!kinds.of('smtp_url')) return email.mime;
    if (performance.now() >= known.until) {
      const relay = await findSmtpUrlRelay(db);
      const reporter = relay && kinds.reporterOf(relay.kind, relay.settings);
      known = { reporter, until: performance.now() + KNOWN_FOR_MS };
    }
    return known.reporter ? markEmail(known.reporter, email, tokenKeys) : email.mime;
  };
}
