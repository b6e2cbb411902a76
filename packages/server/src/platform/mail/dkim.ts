import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { foldField } from './encode-text.ts';
import type { DkimSigningKey } from './outgoing-email.ts';

/**
 * A DKIM signature (RFC 6376): rsa-sha256, relaxed/relaxed. It is our own and not the library's, which can sign neither
 * List-Unsubscribe-Post nor an absent field. A field listed once more than it occurs cannot be added later.
 */
const OVER_SIGNED = ['From', 'To', 'Subject', 'Reply-To', 'List-Unsubscribe', 'List-Unsubscribe-Post'];
/** Message-ID, Date, Return-Path and Bounces-To are not among them, because relays replace them. */
const SIGNED = ['MIME-Version', 'Content-Type', 'List-Id', 'Feedback-ID', 'Auto-Submitted'];

const BASE64_LINE = 72;
const HOST_NAME = /^[a-z\d_](?:[a-z\d_.-]*[a-z\d])?$/i;
const signAsync = promisify(sign);
/** Parsing a key costs a tenth of a signature, and a caller that signs many emails passes the same object. */
const keys = new WeakMap<DkimSigningKey, KeyObject>();

/** Returns the signature field for the given fields. Each of them must end with CRLF. */
export async function dkimField(fields: string[], body: Buffer, dkim: DkimSigningKey): Promise<string> {
  if (!HOST_NAME.test(dkim.domain) || !HOST_NAME.test(dkim.selector)) {
    throw new Error('A signing domain and its selector must be host names');
  }
  const covered = cover(fields);
  const bodyHash = createHash('sha256').update(relaxedBody(body), 'latin1').digest('base64');
  const unsigned = [
    foldField(`DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${dkim.domain}; s=${dkim.selector};`),
    foldField(` h=${covered.names.join(': ')};`).replaceAll(': ', ':'),
    ` bh=${bodyHash};`,
    ' b=',
  ].join('\r\n');
  const signature = await signAsync(
    'sha256',
    Buffer.from(covered.text + relaxedField(unsigned), 'latin1'),
    readKey(dkim),
  );
  const lines = signature.toString('base64').match(new RegExp(`.{1,${BASE64_LINE}}`, 'g')) ?? [];
  return `${unsigned}${lines.join('\r\n  ')}\r\n`;
}

/** Fields of one name are taken from the last one upwards. A name that is listed but absent adds no text. */
function cover(fields: string[]): { names: string[]; text: string } {
  const byName = new Map<string, string[]>();
  for (const field of fields) {
    const name = field.slice(0, field.indexOf(':')).toLowerCase();
    byName.set(name, [...(byName.get(name) ?? []), field]);
  }
  const names: string[] = [];
  let text = '';
  for (const name of [...OVER_SIGNED, ...SIGNED]) {
    const found = (byName.get(name.toLowerCase()) ?? []).toReversed();
    for (const field of found) {
      names.push(name);
      text += `${relaxedField(field)}\r\n`;
    }
    if (OVER_SIGNED.includes(name)) names.push(name);
  }
  return { names, text };
}

function relaxedField(field: string): string {
  const colon = field.indexOf(':');
  const value = field
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value}`;
}

function relaxedBody(body: Buffer): string {
  const text = body
    .toString('latin1')
    .replace(/[ \t]{2,}|\t/g, ' ')
    .replaceAll(' \r\n', '\r\n');
  let end = text.length;
  while (text.endsWith('\r\n', end)) end -= 2;
  return end === 0 ? '' : `${text.slice(0, end)}\r\n`;
}

function readKey(dkim: DkimSigningKey): KeyObject {
  const existing = keys.get(dkim);
  if (existing) return existing;
  const key = createPrivateKey(dkim.privateKey);
  keys.set(dkim, key);
  return key;
}
