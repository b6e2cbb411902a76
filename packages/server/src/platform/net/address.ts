import { domainToASCII } from 'node:url';

/**
 * Returns the form in which two addresses of the same mailbox are equal: lower case, with the domain in A-labels. Dots and plus parts stay,
 * because their meaning differs between providers.
 */
export function normaliseAddress(email: string): string {
  return deliveryAddress(email).toLowerCase();
}

/**
 * Returns the address to deliver to: the domain as the DNS has it. The local part keeps its case, because only its server may interpret it.
 */
export function deliveryAddress(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  const domain = email.slice(at).toLowerCase();
  return email.slice(0, at) + (IS_ASCII.test(domain) ? domain : domainToASCII(domain) || domain);
}

export function domainPart(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** Matches domains that need no conversion. `domainToASCII` would parse them as URL hosts, where `1.2` means `1.0.0.2`. */
// oxlint-disable-next-line no-control-regex
const IS_ASCII = /^[\x00-\x7f]*$/;
