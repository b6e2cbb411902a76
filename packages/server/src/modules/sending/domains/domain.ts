import { parseRate, printRate, type Rate, RATE_SYNTAX } from '../../../platform/text/rate.ts';
import type { Finding } from './findings.ts';
import { invalid } from './domain-name.ts';

/** A sending domain. Each project has its own, even if two projects use the same name. */
export type SendingDomain = {
  projectId: number;
  id: string;
  /** In lower case and A-labels. */
  name: string;
  state: DomainState;
  /** Findings of the last DNS check, one per record. */
  findings: Finding[];
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
