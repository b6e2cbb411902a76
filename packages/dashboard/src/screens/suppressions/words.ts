import type {
  SendCheckEntry,
  RemovalReason,
  SuppressionImport,
  SuppressionReasonName,
} from '@beckon/contract/dashboard';
import { spaced } from '../../parts/codes.ts';

export const REASONS: Record<SuppressionReasonName, string> = {
  unsubscribed: 'Unsubscribed',
  complained: 'Complained',
  manual: 'Added manually',
  hard_bounce: 'Hard bounce',
  soft_bounces: 'Repeated soft bounces',
  snoozed: 'Taking a break',
};

const REMOVALS: Record<RemovalReason, string> = {
  user_request: 'The user asked to receive email again',
  mistake: 'Suppressed by mistake',
  delivery_fixed: 'The delivery problem is fixed',
  other: 'Other',
};

export const REMOVAL_CHOICES = Object.entries(REMOVALS).map(([value, label]) => ({ value, label }));

export const REASON_CHOICES = Object.entries(REASONS).map(([value, label]) => ({ value, label }));

const GATES: Record<string, string> = {
  restore: 'Database restore',
  pause: 'Sending pause',
  suppression: 'Suppression',
  address: 'Address',
  sender: 'Sender and domain',
  quiet_hours: 'Quiet hours',
  frequency_cap: 'Frequency cap',
  throttle: 'Throttle',
  domain_throttle: 'Throttle of the domain and provider',
  warmup: 'Warm-up',
};

/** The display name of a send check. */
export function gateName({ check }: Pick<SendCheckEntry, 'check'>): string {
  return (Object.hasOwn(GATES, check) ? GATES[check] : undefined) ?? spaced(check);
}

/** The suppressed subject. For an erased user, neither address nor id is stored. */
export function subjectName({ value }: { value: string | null }): string {
  return value ?? 'Erased user';
}

/** Parses typed text: an address contains an @, a user id does not. */
export function recipientOf(typed: string): { email: string } | { user: string } {
  const text = typed.trim();
  return /^[^\s@]+@[^\s@.]+\.[^\s@]+$/.test(text) ? { email: text } : { user: text };
}

/** The results of an import in lines. */
export function importLines(result: SuppressionImport): string[] {
  const count = (number: number, singular: string, plural: string): string[] =>
    number === 0 ? [] : [`${number.toLocaleString('en-GB')} ${number === 1 ? singular : plural}`];
  return [
    ...count(result.rows, 'row', 'rows'),
    ...count(result.added, 'new or with a stronger reason', 'new or with a stronger reason'),
    ...count(
      result.already_suppressed,
      'already suppressed or duplicate',
      'already suppressed or duplicates',
    ),
    ...count(result.already_ended, 'already ended', 'already ended'),
    ...count(result.rejected, 'invalid row', 'invalid rows'),
    ...count(result.drafts, 'draft canceled', 'drafts canceled'),
    ...count(result.runs, 'run ended', 'runs ended'),
  ];
}
