import type { Contender, Throttle } from './limits.ts';
import type { Cap } from '../../sending/index.ts';

/**
 * Quiet hours in the recipient's local time. Every local date d has one quiet span, from `start` on d to `end` on d. If the end is not
 * after the start, it is on the next date. Both ends become instants by one rule. A time that a clock change skips is shifted by that
 * change, and a time that occurs twice means its second occurrence. So the night on which clocks go back stays quiet to its real end, and
 * no span ends before an instant within it.
 */
export type QuietWindow = { start: string; end: string };

export type Policy = {
  paused: boolean;
  /** Local times of day such as 21:00. The end may be on the next day. */
  quietHours: QuietWindow | null;
  caps: Cap[] | null;
  throttle: Throttle | null;
  timeZone: string;
};

export type GateFacts = {
  /** The database was restored and not confirmed yet: its waiting emails may have been sent before. */
  isRestored: boolean;
  /** Determines the position in the spread at the end of quiet hours. */
  draftId: string;
  ruleIsOn: boolean;
  /** `fromErased`: it was made for a user with the same address, or the same id, who has been erased since. */
  suppression: { reason: string; until: number | null; fromErased?: true } | null;
  /** The topic of the email, if the user is unsubscribed from it; otherwise null. */
  refusedTopic: string | null;
  /** Normalized. Null if the user has no address. */
  address: string | null;
  /** The state of the sending domain. It is `pass` with the test inbox. */
  domain: 'pass' | { reason: 'domain_not_ready' | 'no_sender' | 'public_url'; detail: string };
  /** The recipient's time zone, already resolved; see `zoneOf`. */
  zone: string;
  /** This email counts towards the caps. Caps do not hold an email that does not count. */
  counts: boolean;
  /** When the emails that count were claimed for this address, newest first. */
  claimedAt: number[];
  /** An email to the same address with a better claim to the last slot; see `findYields`. */
  yieldsTo: Pick<Contender, 'id' | 'deadlineAt'> | null;
  /** How many emails the throttle allows now, and when it allows the next one; see `refill`. */
  throttle: { remaining: number; nextAt: number };
  /** The same for its sending domain and the recipient's mailbox provider, if these have a limit. */
  domainLimit: { of: 'domain' | 'provider'; name: string; nextAt: number } | null;
  warmup: 'pass' | { nextAt: number };
};

/** The destination of emails: the test inbox of this installation, or a relay and from there the recipients. */
export type Outlet = {
  kind: 'test_inbox' | 'relay';
  publicUrl: string;
  /** The public name of the host that receives mail. Null: Beckon receives no mail. */
  mailDomain: string | null;
};
