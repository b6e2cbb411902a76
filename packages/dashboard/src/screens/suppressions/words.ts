import type {
  GateSaid,
  RemovalReason,
  SuppressionImport,
  SuppressionReasonName,
} from '@beckon/contract/dashboard';

export const REASONS: Record<SuppressionReasonName, string> = {
  unsubscribed: 'Unsubscribed',
  complained: 'Complained',
  manual: 'By hand',
  hard_bounce: 'No such mailbox',
  soft_bounces: 'Took nothing for too long',
  snoozed: 'Wants a break',
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
  restore_unconfirmed: 'Restored database',
  paused: 'Pause',
  suppressed: 'Suppression',
  no_address: 'Address',
  domain: 'Sending domain',
  no_sender: 'Sender',
  public_url: 'Public address',
  quiet_hours: 'Quiet hours',
  cap: 'Frequency cap',
  throttle: 'Throttle',
  domain_throttle: 'Throttle of the domain',
  provider_throttle: 'Throttle of the provider',
  warmup: 'Warm-up',
};

/** A gate as people call it. */
export function gateName({ check: gate }: Pick<GateSaid, 'check'>): string {
  return (Object.hasOwn(GATES, gate) ? GATES[gate] : undefined) ?? gate.replaceAll('_', ' ');
}

/** Who is suppressed. Of an erased user neither the address nor the id is known. */
export function subjectName({ value }: { value: string | null }): string {
  return value ?? 'Erased user';
}

/** What somebody typed: an address has an @ that nothing else would have. */
export function placeOf(typed: string): { email: string } | { user: string } {
  const text = typed.trim();
  return /^[^\s@]+@[^\s@.]+\.[^\s@]+$/.test(text) ? { email: text } : { user: text };
}

/** What an import comes to, in lines. */
export function importLines(told: SuppressionImport): string[] {
  const count = (number: number, one: string, many: string): string[] =>
    number === 0 ? [] : [`${number.toLocaleString('en-GB')} ${number === 1 ? one : many}`];
  return [
    ...count(told.rows, 'row', 'rows'),
    ...count(told.added, 'is new, or has a stronger reason now', 'are new, or have a stronger reason now'),
    ...count(told.known, 'was there before, or twice in the list', 'were there before, or twice in the list'),
    ...count(told.over, 'had ended before now', 'had ended before now'),
    ...count(told.refused, 'is refused', 'are refused'),
    ...count(told.drafts, 'draft is canceled by it', 'drafts are canceled by it'),
    ...count(told.runs, 'run through a sequence ends', 'runs through sequences end'),
  ];
}
