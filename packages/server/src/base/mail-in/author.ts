import addressparser from 'nodemailer/lib/addressparser';
import { decodeWords } from 'postal-mime';

const CHARS_MAX = 2_000;
/** Nothing quoted, no second @, and a domain as the DNS has it: what two parsers could read as two addresses is none. */
const PLAIN = /^[^\s\p{Cc}@<>"(),:;[\]\\]{1,128}@(?:[a-z\d_-]{1,63}\.){0,10}[a-z\d_-]{1,63}$/iu;

/** Who a `From` says wrote it, in lower case; null unless that is one address. Read by the parser by which DMARC is judged. */
export function authorOf(from: string): string | null {
  if (from.length > CHARS_MAX) return null;
  const [author, ...others] = addressparser(from);
  const address = author?.address ?? '';
  return others.length === 0 && PLAIN.test(address) ? address.toLowerCase() : null;
}

/** What a `From` calls its author, empty where it is an address alone. Whatever was encoded may hold any sign. */
export function authorNameOf(from: string): string {
  const some = from.slice(0, CHARS_MAX);
  const before = some.slice(0, Math.max(some.lastIndexOf('<'), 0)).trim();
  // Within quotes nothing is encoded, says RFC 2047; many programs do it all the same.
  return decodeWords(before.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1'));
}
