import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { Fault } from '../../../platform/fault.ts';

/**
 * The longest name that may send. The envelope sender has up to 64 characters before the @ and a host below `bounce.`, and no server
 * accepts an address of more than 254.
 */
export const DOMAIN_NAME_MAX = 180;

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);
// oxlint-disable-next-line no-control-regex
const IS_ASCII = /^[\x00-\x7f]*$/;

/** Normalizes a domain name to the form used in DNS. Throws if emails cannot be sent from there. */
export function readDomainName(text: string): string {
  const name = normaliseDomainName(text);
  const quoted = JSON.stringify(text.slice(0, 300));
  if (name.includes('@'))
    throw invalid(`${quoted} is an email address. Enter only the part after the @`, 'domain');
  if (name.includes('/')) throw invalid(`${quoted} is a URL. Enter only the domain name`, 'domain');
  const { isIp, publicSuffix } = parse(name);
  if (isIp) throw invalid(`${quoted} is an IP address. Enter a domain`, 'domain');
  if (!NAME.test(name))
    throw invalid(
      `${quoted} is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com`,
      'domain',
    );
  if (name.length > DOMAIN_NAME_MAX)
    throw invalid(`A domain has at most ${DOMAIN_NAME_MAX} characters`, 'domain');
  // Private suffixes such as github.io have an owner, who can publish a key there. Suffixes of registries have none.
  if (publicSuffix === name)
    throw invalid(
      `${quoted} is a public suffix, under which anyone can register a domain. Enter your own domain`,
      'domain',
    );
  return name;
}

/** Returns the name in lower case and A-labels without a trailing dot, or an empty string if it cannot be a domain name. */
export function normaliseDomainName(text: string): string {
  const name = text.trim().toLowerCase().replace(/\.$/, '');
  return IS_ASCII.test(name) ? name : domainToASCII(name);
}

/**
 * Returns the name at which receivers look for DMARC if the domain itself has no record. Receivers disagree on private suffixes. Treating
 * them as suffixes gives an answer that all receivers accept.
 */
export function organizationOf(name: string): string {
  return parse(name, { allowPrivateDomains: true }).domain ?? name;
}

export function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
