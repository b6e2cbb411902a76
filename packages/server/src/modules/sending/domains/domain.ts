import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import type { DnsRecordFinding } from './findings.ts';
import { Fault } from '../../../platform/fault.ts';
import { parseRate, printRate, type Rate, RATE_SYNTAX } from '../../../platform/text/rate.ts';

/** A sending domain. Each project has its own, even if two projects use the same name. */
export type SendingDomain = {
  projectId: number;
  id: string;
  /** In lower case and A-labels. */
  name: string;
  state: DomainState;
  /** Findings of the last DNS check, one per record. */
  findings: DnsRecordFinding[];
  /** Checks that found an error since `failingSince`. */
  misses: number;
  failingSince: number | null;
  throttle: Rate | null;
  /** The domain has sent emails before and needs no warm-up. */
  warm: boolean;
  /** The start of the warm-up, which allows more emails each day. Null if it has not started or is not needed. */
  warmupFrom: number | null;
  /** When and why the domain was paused because receivers reject its emails for their content or reputation. Null if it is not paused. */
  pausedAt: number | null;
  pausedReason: string | null;
  /** When a member last resumed it. */
  resumedAt: number | null;
  /** The tracking host for links. If it is null, links use the address of the installation. */
  tracking: Tracking | null;
  createdAt: number;
  verifiedAt: number | null;
  checkedAt: number | null;
  nextCheckAt: number | null;
};

export type DomainState = 'pending' | 'verified' | 'degraded' | 'failed';

/** Settings of the installation that DNS records depend on. A setting is null if it is unknown. */
export type MailSettings = {
  /** The public name of the host that receives bounces. */
  mailDomain: string | null;
  /** The `include` that the relay requires in an SPF record. */
  spfInclude: string | null;
  /** The domain whose SPF record needs it. Absent or null: that of the return path. */
  spfDomain?: string | null;
};

/** Returns whether emails may be sent from the domain. A verified domain with a new error continues to send until the error has lasted. */
export function maySend({ state }: Pick<SendingDomain, 'state'>): boolean {
  return state === 'verified' || state === 'degraded';
}

/**
 * Returns the domain of the return path. It is below the sending domain, so that SPF aligns. Without a bounce host nothing is published
 * there, and many receivers reject a sender domain without MX or address record. The sending domain itself is used then.
 */
export function returnPathOf(name: string, { mailDomain }: Pick<MailSettings, 'mailDomain'>): string {
  return mailDomain === null ? name : `bounce.${name}`;
}

const OFF = 'off';

export function parseThrottle(text: string): Rate | null {
  const rate = text === OFF ? null : parseRate(text);
  if (rate !== undefined) return rate;
  throw invalid(`${JSON.stringify(text)} is not a throttle. Use ${RATE_SYNTAX}, or off`, 'throttle');
}

export function printThrottle(throttle: Rate | null): string {
  return throttle ? printRate(throttle) : OFF;
}

export type TrackingState = 'pending' | 'working' | 'failed';

/**
 * Tracking host of a sending domain: the host in the links of its emails. Links use it while a probe of the host reaches this installation.
 * Before that, and after three failed probes, links use the installation's own address.
 *
 *   pending ──right──▶ working ──wrong 3 times──▶ failed ──right──▶ working
 *      └──────────wrong 3 times──────────────────────┘
 */
export type Tracking = {
  /** In lower case and A-labels. */
  host: string;
  state: TrackingState;
  /** The result of the last probe, for people. */
  found: string | null;
  misses: number;
  /** When the host was set, or last stopped working. */
  since: number;
  /** When a probe of the host first reached this installation, or null if none did. */
  workedAt: number | null;
  checkedAt: number | null;
  nextAt: number;
};

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
