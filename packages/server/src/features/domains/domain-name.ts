import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { invalid } from './domain.ts';

/**
 * The longest that may send: the sender of a letter is an address of up to 64 characters below `bounce.`, and no server
 * takes an address of more than 254.
 */
export const DOMAIN_NAME_MAX = 180;

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);
// oxlint-disable-next-line no-control-regex
const IS_ASCII = /^[\x00-\x7f]*$/;

/** As the DNS writes it; a fault where letters cannot come from there. */
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
  // Private suffixes such as github.io have an owner, who can publish a key there; those of registries have none.
  if (publicSuffix === name)
    throw invalid(
      `${quoted} is a public suffix, under which anyone can register a domain. Enter your own domain`,
      'domain',
    );
  return name;
}

/** In lower case and A-labels, without the dot at its end; empty where it cannot be one. */
export function normaliseDomainName(text: string): string {
  const name = text.trim().toLowerCase().replace(/\.$/, '');
  return IS_ASCII.test(name) ? name : domainToASCII(name);
}

/**
 * Where receivers look for DMARC if the domain itself says nothing. They disagree on private suffixes; taken as suffixes,
 * the answer is one that all of them accept.
 */
export function organizationOf(name: string): string {
  return parse(name, { allowPrivateDomains: true }).domain ?? name;
}
