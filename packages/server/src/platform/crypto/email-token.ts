import { equalInConstantTime, hmacSha256 } from './hash.ts';

/**
 * The name of an email in its envelope and in its links: the project and the email. Only this installation can sign its token. Tokens use
 * only lower-case letters and digits, because mail servers fold the case of addresses.
 */
export type EmailName = { projectId: number; emailId: string };

/**
 * The purpose is part of the signature, so that the token of a link is valid for nothing else. A `test` names the draft that it is a copy
 * of.
 */
export type TokenUse =
  | 'bounce'
  /** Given to the provider of a relay, which returns it with outcomes. */
  | 'relay'
  | 'reply'
  /** In the address that a mailbox forwards replies to. It names the reply source. */
  | 'source'
  | 'unsubscribe'
  | 'open'
  | `click ${number}`
  | 'trap'
  | 'choices'
  | 'team'
  | 'test';

/** The key that signs, followed by keys that only verify: tokens sent before a change of the secret stay valid. */
export type TokenKeys = readonly [Uint8Array, ...Uint8Array[]];

const PROJECT_BYTES = 5;
const NAME_BYTES = PROJECT_BYTES + 16;
const SIGNATURE_BYTES = 10;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const TOKEN = /^([a-z2-7]{34})\.([a-z2-7]{16})$/;

export function emailToken(name: EmailName, use: TokenUse, [key]: TokenKeys): string {
  const bytes = Buffer.alloc(NAME_BYTES);
  bytes.writeUIntBE(name.projectId, 0, PROJECT_BYTES);
  bytes.write(name.emailId.replaceAll('-', ''), PROJECT_BYTES, 'hex');
  return `${toBase32(bytes)}.${toBase32(sign(bytes, use, key))}`;
}

/** Returns null for any text that was not signed for this use. */
export function readEmailToken(text: string, use: TokenUse, keys: TokenKeys): EmailName | null {
  const [, nameText, signatureText] = TOKEN.exec(text.toLowerCase()) ?? [];
  if (nameText === undefined || signatureText === undefined) return null;
  const bytes = fromBase32(nameText).subarray(0, NAME_BYTES);
  // The last character has two unused bits. Only one spelling of a name is accepted.
  if (toBase32(bytes) !== nameText) return null;
  const signature = fromBase32(signatureText);
  if (!keys.some((key) => equalInConstantTime(signature, sign(bytes, use, key)))) return null;
  const hex = bytes.toString('hex', PROJECT_BYTES);
  const emailId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { projectId: bytes.readUIntBE(0, PROJECT_BYTES), emailId };
}

function sign(bytes: Uint8Array, use: TokenUse, key: Uint8Array): Buffer {
  return hmacSha256(key, `${use}\n`, bytes).subarray(0, SIGNATURE_BYTES);
}

function toBase32(bytes: Uint8Array): string {
  let [text, buffered, bits] = ['', 0, 0];
  for (const byte of bytes) {
    buffered = (buffered << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(buffered >>> (bits - 5)) & 31];
    buffered &= 255;
  }
  return bits > 0 ? text + ALPHABET[(buffered << (5 - bits)) & 31] : text;
}

/** Decodes text that matched the pattern, so that no other characters occur. */
function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [buffered, bits] = [0, 0];
  for (const sign of text) {
    buffered = ((buffered << 5) | ALPHABET.indexOf(sign)) & 4095;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((buffered >>> bits) & 255);
  }
  return Buffer.from(bytes);
}
