import { deliveryAddress } from '../net/address.ts';

export type Mailbox = { name: string; address: string };

/** All parts of an email. The caller has decided every word: the same `OutgoingEmail` gives the same bytes. */
export type OutgoingEmail = {
  /** Without angle brackets. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: Mailbox;
  replyTo: Mailbox | null;
  subject: string;
  html: string;
  text: string;
  /** List-Unsubscribe and similar fields, in the order in which they are written. */
  headers: { name: string; value: string }[];
};

/** `privateKey` is PEM. Emails that share one object share the parsed key. */
export type DkimSigningKey = { domain: string; selector: string; privateKey: string };

/** A local part that needs no quotes, and a domain of labels: neither can end an address or begin another. */
const LOCAL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/;
const DOMAIN = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/;

/** Returns an address for an SMTP command or a header field, with its domain in A-labels; null if it would need quotes. */
export function wireAddress(address: string): string | null {
  const wire = deliveryAddress(address);
  const at = wire.lastIndexOf('@');
  return LOCAL.test(wire.slice(0, Math.max(at, 0))) && DOMAIN.test(wire.slice(at + 1)) ? wire : null;
}
