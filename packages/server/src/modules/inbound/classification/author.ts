import addressparser from 'nodemailer/lib/addressparser';
import { decodeWords } from 'postal-mime';

const CHARS_MAX = 2_000;
/**
 * No quotes, no second @, and a domain as the DNS has it. Text that two parsers could read as two addresses is not accepted as an address.
 */
const PLAIN = /^[^\s\p{Cc}@<>"(),:;[\]\\]{1,128}@(?:[a-z\d_-]{1,63}\.){0,10}[a-z\d_-]{1,63}$/iu;

/** Returns the author of a `From` in lower case; null unless it is one address. Uses the same parser as the DMARC check. */
export function authorOf(from: string): string | null {
  if (from.length > CHARS_MAX) return null;
  const [author, ...others] = addressparser(from);
  const address = author?.address ?? '';
  return others.length === 0 && PLAIN.test(address) ? address.toLowerCase() : null;
}

/** Returns the author's name in a `From`, empty if it has only an address. An encoded name may contain any character. */
export function authorNameOf(from: string): string {
  const some = from.slice(0, CHARS_MAX);
  const before = some.slice(0, Math.max(some.lastIndexOf('<'), 0)).trim();
  // RFC 2047 forbids encoding within quotes, but many programs do it.
  return decodeWords(before.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1'));
}
