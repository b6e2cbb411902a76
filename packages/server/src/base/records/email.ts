import { domainToASCII } from 'node:url';
import { EMAIL_LOCAL_MAX_CHARS, EMAIL_MAX_CHARS } from '@beckon/contract';

const LOCAL_PART = /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+$/;
const LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/;

/** One `@`, a local part as WHATWG has it, a dotted domain (an international one by its A-labels). Nothing is trimmed. */
export function isEmail(text: string): boolean {
  if (text.length > EMAIL_MAX_CHARS) return false;
  const at = text.indexOf('@');
  if (at < 1 || at !== text.lastIndexOf('@') || at > EMAIL_LOCAL_MAX_CHARS) return false;
  return LOCAL_PART.test(text.slice(0, at)) && isDottedDomain(text.slice(at + 1));
}

function isDottedDomain(domain: string): boolean {
  // Characters that a URL would take for something else never come out of it unchanged: only letters, digits and marks.
  const ascii = ASCII.test(domain)
    ? domain
    : /^[\p{L}\p{N}\p{M}.-]+$/u.test(domain)
      ? domainToASCII(domain)
      : '';
  const labels = ascii.split('.');
  return labels.length > 1 && ascii.length <= 253 && labels.every((label) => LABEL.test(label));
}
