import { domainPart } from '../../base/address.ts';
import { letterToken, type LetterName, type TokenKeys } from '../../base/letter-token.ts';
import { TEST_INBOX_DOMAIN, type Outlet } from './sender.ts';

export type LetterHeaders = {
  mailFrom: string;
  /** Without brackets. */
  messageIdHeader: string;
  unsubscribeUrl: string;
  headers: { name: string; value: string }[];
};

export type HeadersOf = {
  name: LetterName;
  outlet: Outlet;
  tokenKeys: TokenKeys;
  from: { name: string; address: string };
  /** Where bounces are to go, below the sending domain; null where no domain was added. */
  returnPath: string | null;
  project: string;
  rule: string;
};

/** Of at most so many characters a name in a header; longer ones are for people's eyes, not for filters. */
const LABEL_MAX_CHARS = 60;

/**
 * What a letter carries besides its text. How to unsubscribe stands in its head, for the one click of a mail reader, as well
 * as in its body. Nothing in it says more of the recipient than which letter it is.
 */
export function letterHeaders({
  name,
  outlet,
  tokenKeys,
  from,
  returnPath,
  project,
  rule,
}: HeadersOf): LetterHeaders {
  const token = letterToken(name, 'unsubscribe', tokenKeys);
  const unsubscribeUrl = new URL(`/u/${token}`, outlet.publicUrl).href;
  const mailto = outlet.mailDomain === null ? [] : [`<mailto:u+${token}@${outlet.mailDomain}>`];
  const domain = domainPart(from.address);
  const sender = `beckon${name.projectId}`;
  return {
    mailFrom: bounceAddress({ name, outlet, tokenKeys, returnPath }) ?? from.address,
    messageIdHeader: `${name.messageId}@${domain}`,
    unsubscribeUrl,
    headers: [
      { name: 'List-Unsubscribe', value: [`<${unsubscribeUrl}>`, ...mailto].join(', ') },
      { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
      { name: 'List-Id', value: `<letters.p${name.projectId}.${domain}>` },
      { name: 'Feedback-ID', value: `${label(rule)}:${label(project)}:lifecycle:${sender.slice(0, 15)}` },
    ],
  };
}

/** Bounces that nobody reads go to the sender's own address, where a person may see them. */
function bounceAddress({
  name,
  outlet,
  tokenKeys,
  returnPath,
}: Pick<HeadersOf, 'name' | 'outlet' | 'tokenKeys' | 'returnPath'>): string | null {
  const isRead = outlet.kind === 'test_inbox' || outlet.mailDomain !== null;
  if (!isRead) return null;
  const host = returnPath ?? (outlet.kind === 'test_inbox' ? TEST_INBOX_DOMAIN : null);
  return host === null ? null : `b+${letterToken(name, 'bounce', tokenKeys)}@${host}`;
}

/** Where answers come in, to be handed on to the team; null where nobody here reads them. */
export function replyAddress({
  name,
  outlet,
  tokenKeys,
}: Pick<HeadersOf, 'name' | 'outlet' | 'tokenKeys'>): string | null {
  const host = outlet.mailDomain ?? (outlet.kind === 'test_inbox' ? TEST_INBOX_DOMAIN : null);
  return host === null ? null : `r+${letterToken(name, 'reply', tokenKeys)}@${host}`;
}

/** Plain signs only: a colon would be another field. */
function label(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, LABEL_MAX_CHARS) || 'letter'
  );
}
