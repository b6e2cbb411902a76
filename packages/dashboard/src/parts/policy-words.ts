import type { PolicyEffect } from '@beckon/contract/dashboard';
import { formatSpan } from './time.ts';

/** The reasons of held emails in words. The keys are the codes of the send checks. */
const REASONS: Record<string, string> = {
  restore_unconfirmed: 'database restore',
  restored: 'database restore',
  paused: 'sending paused',
  rule_off: 'rule disabled',
  suppressed: 'suppressed',
  topic_unsubscribed: 'topic unsubscribed',
  no_address: 'no address',
  domain_not_ready: 'sending domain',
  no_sender: 'sender incomplete',
  public_url: 'PUBLIC_URL',
  quiet_hours: 'quiet hours',
  frequency_cap: 'frequency cap',
  frequency_cap_yielded: 'email with higher priority',
  throttle: 'throttle',
  domain_throttle: 'throttle of the domain',
  provider_throttle: 'rate limit of a mailbox provider',
  warmup: 'warm-up',
  needs_review: 'conditions no longer met',
  missing_variable: 'missing value',
  render_failed: 'rendering limits',
  replied: 'user replied',
  editing: 'being edited',
  postponed: 'postponed',
  deferred: 'deferred by the recipient’s server',
};

export function reasonWords(reason: string): string {
  return REASONS[reason] ?? (/^[a-z_]+$/.test(reason) ? reason.replaceAll('_', ' ') : reason);
}

/** "12 quiet hours, 3 frequency cap". */
export function heldWords(held: Record<string, number>): string {
  return Object.entries(held)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${formatNumber(count)} ${reasonWords(reason)}`)
    .join(', ');
}

/** "214 emails move, median 3 h 10 min later", "2 emails expire and are not sent". */
export function effectWords(effect: PolicyEffect): string[] {
  const { newly_expire: lost, stop_sending: stopped } = effect;
  const freed = effect.proposed.sends - effect.current.sends + lost;
  const lines = [
    ...movedWords(effect),
    ...counted(lost, 'expires and is not sent', 'expire and are not sent'),
    ...counted(-freed, 'is held without a send time', 'are held without a send time'),
    ...counted(freed, 'that is held now is sent', 'that are held now are sent'),
    ...counted(stopped, 'is no longer sent automatically', 'are no longer sent automatically'),
  ];
  if (lines.length > 0) return lines;
  return [effect.drafts === 0 ? 'No emails are waiting, so nothing changes' : 'No waiting email is affected'];
}

function movedWords({ earlier, later, median_shift_ms: shift }: PolicyEffect): string[] {
  const direction = (shift ?? 0) < 0 ? 'earlier' : 'later';
  const median = shift === null ? '' : `, median ${formatSpan(shift)} ${direction}`;
  const moved = counted(earlier + later, `moves${median}`, `move${median}`);
  const isBoth = earlier > 0 && later > 0;
  return isBoth ? [...moved, `${formatNumber(earlier)} earlier, ${formatNumber(later)} later`] : moved;
}

/** Omits counts of zero. */
function counted(count: number, singular: string, plural: string): string[] {
  return count > 0 ? [`${emails(count)} ${count === 1 ? singular : plural}`] : [];
}

function emails(count: number): string {
  return `${formatNumber(count)} ${count === 1 ? 'email' : 'emails'}`;
}

function formatNumber(count: number): string {
  return count.toLocaleString('en');
}
