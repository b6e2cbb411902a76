import { domainToASCII } from 'node:url';
import { EMAIL_LOCAL_MAX_CHARS, EMAIL_MAX_CHARS } from '@beckon/contract';

const LOCAL_PART = /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+$/;
const LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/;

/** Requires one `@`, a local part as in the WHATWG standard, and a dotted domain (an international one in A-labels). Does not trim. */
export function isEmail(text: string): boolean {
  if (text.length > EMAIL_MAX_CHARS) return false;
  const at = text.indexOf('@');
  if (at < 1 || at !== text.lastIndexOf('@') || at > EMAIL_LOCAL_MAX_CHARS) return false;
  return LOCAL_PART.test(text.slice(0, at)) && isDottedDomain(text.slice(at + 1));
}

function isDottedDomain(domain: string): boolean {
  // Characters with a meaning in URLs do not survive the conversion, so only letters, digits and marks are accepted.
  const ascii = ASCII.test(domain)
    ? domain
    : /^[\p{L}\p{N}\p{M}.-]+$/u.test(domain)
      ? domainToASCII(domain)
      : '';
  const labels = ascii.split('.');
  return labels.length > 1 && ascii.length <= 253 && labels.every((label) => LABEL.test(label));
}
