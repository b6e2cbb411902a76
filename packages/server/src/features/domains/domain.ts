import { Fault } from '../../base/fault.ts';
import type { Finding } from './judge.ts';

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
  throttle: Throttle | null;
  /** It has sent before: letters need not begin slowly. */
  warm: boolean;
  /** Since when more letters may leave day by day; null: it has not begun, or none is needed. */
  rampFrom: number | null;
  createdAt: number;
  verifiedAt: number | null;
  checkedAt: number | null;
  nextCheckAt: number | null;
};

export type DomainState = 'pending' | 'verified' | 'degraded' | 'failed';
type Throttle = { letters: number; perMs: number };

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

const THROTTLE = /^([1-9]\d{0,6})\/([smh])$/;
const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const OFF = 'off';

export function parseThrottle(text: string): Throttle | null {
  if (text === OFF) return null;
  const [, letters, unit] = THROTTLE.exec(text) ?? [];
  const perMs = UNITS_MS[unit as keyof typeof UNITS_MS] as number | undefined;
  if (perMs !== undefined) return { letters: Number(letters), perMs };
  throw invalid(
    `${JSON.stringify(text)} is no throttle: it is letters a second, minute or hour such as 5/s, 300/m or 5000/h, or off`,
    'throttle',
  );
}

export function printThrottle(throttle: Throttle | null): string {
  if (!throttle) return OFF;
  const unit = Object.entries(UNITS_MS).find(([, ms]) => ms === throttle.perMs)?.[0] ?? 's';
  return `${throttle.letters}/${unit}`;
}

export function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
