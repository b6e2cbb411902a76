import { Fault } from '../../base/fault.ts';
import { parseRate, printRate, type Rate, RATE_SYNTAX } from '../../base/rate.ts';
import type { Finding } from './judge.ts';
import type { Tracking } from './tracking.ts';

/** A domain that letters come from: each project's own, even where two projects have the same one. */
export type SendingDomain = {
  projectId: number;
  id: string;
  /** In lower case and A-labels. */
  name: string;
  state: DomainState;
  /** What the last look at the DNS found, record by record. */
  findings: Finding[];
  /** Looks that found something wrong since `failingSince`. */
  misses: number;
  failingSince: number | null;
  throttle: Rate | null;
  /** It has sent before: letters need not begin slowly. */
  warm: boolean;
  /** Since when more letters may leave day by day; null: it has not begun, or none is needed. */
  warmupFrom: number | null;
  /** Since when nothing leaves from it because its letters are refused for what they are, and why; null: it is not paused. */
  pausedAt: number | null;
  pausedReason: string | null;
  /** When a person last let it go on. */
  resumedAt: number | null;
  /** Its host for links; null: they have the installation's own address. */
  tracking: Tracking | null;
  createdAt: number;
  verifiedAt: number | null;
  checkedAt: number | null;
  nextCheckAt: number | null;
};

export type DomainState = 'pending' | 'verified' | 'degraded' | 'failed';

/** What of the installation the records depend on; null where it is not known. */
export type MailSettings = {
  /** The public name of the host that takes bounces. */
  mailDomain: string | null;
  /** What the relay wants to see in an SPF record. */
  spfInclude: string | null;
};

/** Whether letters may leave from it. One that was verified and shows a fault goes on until the fault has lasted. */
export function maySend({ state }: Pick<SendingDomain, 'state'>): boolean {
  return state === 'verified' || state === 'degraded';
}

/**
 * Where bounces come back to: below the domain, so that SPF aligns with it. Where nobody takes bounces in nothing is
 * published there, and a sender whose domain has neither mail nor host is refused by many.
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

export function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
