import { domainPart } from '../../platform/net/address.ts';
import { emailToken, type EmailName, type TokenKeys } from '../../platform/crypto/email-token.ts';
import type { Outlet } from './gate/facts.ts';
import { TEST_INBOX_DOMAIN } from './sender-identity.ts';

export type EmailHeaders = {
  mailFrom: string;
  /** Without angle brackets. */
  messageIdHeader: string;
  unsubscribeUrl: string;
  headers: { name: string; value: string }[];
};

export type HeadersInput = {
  name: EmailName;
  outlet: Outlet;
  tokenKeys: TokenKeys;
  from: { name: string; address: string };
  /** The bounce address domain below the sending domain. Null if no domain was added. */
  returnPath: string | null;
  project: string;
  rule: string;
};

/** The maximum length of a name in a header. Longer names help readers, but not filters. */
const LABEL_MAX_CHARS = 60;

/**
 * Returns the headers of an email. They contain the unsubscribe links for one-click unsubscribe in the mail client, in addition to the link
 * in the body. They identify the email and contain nothing else about the recipient.
 */
export function emailHeaders({
  name,
  outlet,
  tokenKeys,
  from,
  returnPath,
  project,
  rule,
}: HeadersInput): EmailHeaders {
  const token = emailToken(name, 'unsubscribe', tokenKeys);
  const unsubscribeUrl = new URL(`/u/${token}`, outlet.publicUrl).href;
  const mailto = outlet.mailDomain === null ? [] : [`<mailto:u+${token}@${outlet.mailDomain}>`];
  const domain = domainPart(from.address);
  const sender = `beckon${name.projectId}`;
  return {
    mailFrom: bounceAddress({ name, outlet, tokenKeys, returnPath }) ?? from.address,
    messageIdHeader: `${name.emailId}@${domain}`,
    unsubscribeUrl,
    headers: [
      { name: 'List-Unsubscribe', value: [`<${unsubscribeUrl}>`, ...mailto].join(', ') },
      { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
      { name: 'List-Id', value: `<emails.p${name.projectId}.${domain}>` },
      { name: 'Feedback-ID', value: `${label(rule)}:${label(project)}:lifecycle:${sender.slice(0, 15)}` },
    ],
  };
}

/** If Beckon does not receive bounces, they go to the sender's own address, where a person may read them. */
function bounceAddress({
  name,
  outlet,
  tokenKeys,
  returnPath,
}: Pick<HeadersInput, 'name' | 'outlet' | 'tokenKeys' | 'returnPath'>): string | null {
  const isRead = outlet.kind === 'test_inbox' || outlet.mailDomain !== null;
  if (!isRead) return null;
  const host = returnPath ?? (outlet.kind === 'test_inbox' ? TEST_INBOX_DOMAIN : null);
  return host === null ? null : `b+${emailToken(name, 'bounce', tokenKeys)}@${host}`;
}

/** Returns the address for replies, which are forwarded to the team. Null if Beckon does not receive mail. */
export function replyAddress({
  name,
  outlet,
  tokenKeys,
}: Pick<HeadersInput, 'name' | 'outlet' | 'tokenKeys'>): string | null {
  const host = outlet.mailDomain ?? (outlet.kind === 'test_inbox' ? TEST_INBOX_DOMAIN : null);
  return host === null ? null : `r+${emailToken(name, 'reply', tokenKeys)}@${host}`;
}

/** The longest local part that mail servers accept (RFC 5321, section 4.5.3.1.1). */
const LOCAL_PART_MAX = 64;

/** A plus and the token. */
const TAG_CHARS = 52;

export function fitsPlusAddressing(address: string): boolean {
  return address.lastIndexOf('@') + TAG_CHARS <= LOCAL_PART_MAX;
}

/** Returns an address with the token of an email (RFC 5233). Null if it would be longer than mail servers accept. */
export function plusAddress(address: string, name: EmailName, tokenKeys: TokenKeys): string | null {
  if (!fitsPlusAddressing(address)) return null;
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}+${emailToken(name, 'reply', tokenKeys)}${address.slice(at)}`;
}

/** Keeps plain characters only: a colon would begin another field. */
function label(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, LABEL_MAX_CHARS) || 'email'
  );
}
