import { domainToASCII } from 'node:url';

/**
 * The form in which two addresses are the same mailbox: lower case, the domain in A-labels. Dots and plus parts stay, for
 * they mean something else with every provider.
 */
export function normaliseAddress(email: string): string {
  return deliveryAddress(email).toLowerCase();
}

/** To which mail goes: the domain as the DNS has it, before it whatever case the person wrote, which is theirs to choose. */
export function deliveryAddress(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  const domain = email.slice(at).toLowerCase();
  return email.slice(0, at) + (IS_ASCII.test(domain) ? domain : domainToASCII(domain) || domain);
}

export function domainPart(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** What is ASCII already would be read as a host is, where `1.2` means `1.0.0.2`. */
// oxlint-disable-next-line no-control-regex
const IS_ASCII = /^[\x00-\x7f]*$/;
