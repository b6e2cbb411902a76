import type { PolicyEffect } from '@beckon/contract/dashboard';
import { formatSpan } from './time.ts';

/** What holds letters, in words that need no manual. Keys are the reasons that the gates give. */
const REASONS: Record<string, string> = {
  restore_unconfirmed: 'the restore of the database',
  restored: 'the restore of the database',
  paused: 'the pause',
  rule_off: 'a rule that is off',
  suppressed: 'a suppression',
  topic: 'a topic that is not wanted',
  no_address: 'a missing address',
  domain: 'the sending domain',
  no_sender: 'the missing sender',
  public_url: 'PUBLIC_URL',
  quiet_hours: 'quiet hours',
  cap: 'the cap per person',
  cap_yielded: 'a letter with the better claim',
  throttle: 'the throttle',
  domain_throttle: 'the throttle of the domain',
  provider_throttle: 'the pace of a mailbox provider',
  warmup: 'the warm-up',
  needs_review: 'a rule that holds no more',
  missing_variable: 'a missing value',
  render_failed: 'rendering limits',
  replied: 'an answer that came',
  editing: 'somebody who edits it',
  snoozed: 'a snooze',
  deferred: 'the recipient’s server',
};

export function reasonWords(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}

/** "12 held by quiet hours, 3 by the cap per person". */
export function heldWords(held: Record<string, number>): string {
  return Object.entries(held)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${formatNumber(count)} by ${reasonWords(reason)}`)
    .join(', ');
}

/** "214 letters move, median 3 h 10 min later", "2 letters pass their time and are not sent". */
export function effectWords(effect: PolicyEffect): string[] {
  const { newly_expire: lost, stop_sending: stopped } = effect;
  const freed = effect.changed.sends - effect.today.sends + lost;
  const said = [
    ...movedWords(effect),
    ...counted(lost, 'passes its time and is not sent', 'pass their time and are not sent'),
    ...counted(-freed, 'is held and has no time to leave', 'are held and have no time to leave'),
    ...counted(freed, 'that is held now leaves', 'that are held now leave'),
    ...counted(stopped, 'no longer leaves without a person', 'no longer leave without a person'),
  ];
  if (said.length > 0) return said;
  return [
    effect.drafts === 0 ? 'No letter waits now, so nothing changes' : 'No waiting letter fares otherwise',
  ];
}

function movedWords({ earlier, later, median_shift_ms: shift }: PolicyEffect): string[] {
  const direction = (shift ?? 0) < 0 ? 'earlier' : 'later';
  const median = shift === null ? '' : `, median ${formatSpan(shift)} ${direction}`;
  const moved = counted(earlier + later, `moves${median}`, `move${median}`);
  const isBoth = earlier > 0 && later > 0;
  return isBoth ? [...moved, `${formatNumber(earlier)} earlier, ${formatNumber(later)} later`] : moved;
}

/** Nothing of none. */
function counted(count: number, one: string, many: string): string[] {
  return count > 0 ? [`${letters(count)} ${count === 1 ? one : many}`] : [];
}

function letters(count: number): string {
  return `${formatNumber(count)} ${count === 1 ? 'letter' : 'letters'}`;
}

function formatNumber(count: number): string {
  return count.toLocaleString('en');
}
