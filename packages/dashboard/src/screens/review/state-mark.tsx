import type { DraftListed, DraftState } from '@beckon/contract/dashboard';
import {
  BellOff,
  Ban,
  Check,
  CircleHelp,
  CircleX,
  Clock3,
  type LucideIcon,
  PauseCircle,
  Send,
  SkipForward,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type Tone } from '../../parts/index.ts';

const STATES: Record<DraftState, { icon: LucideIcon; tone: Tone; label: string }> = {
  scheduled: { icon: Clock3, tone: 'info', label: 'Waiting' },
  approved: { icon: Check, tone: 'good', label: 'Approved' },
  held: { icon: PauseCircle, tone: 'warn', label: 'Held' },
  sending: { icon: Send, tone: 'info', label: 'Being sent' },
  sent: { icon: Send, tone: 'good', label: 'Sent' },
  skipped: { icon: SkipForward, tone: 'quiet', label: 'Skipped' },
  canceled: { icon: Ban, tone: 'quiet', label: 'Canceled' },
  failed: { icon: CircleX, tone: 'bad', label: 'Failed' },
  unknown: { icon: CircleHelp, tone: 'bad', label: 'Delivery unknown' },
};

/** The reason in two or three words. Why shows full sentences. */
const REASONS: Record<string, string> = {
  restore_unconfirmed: 'Database restored',
  restored: 'May have been sent',
  paused: 'Paused',
  rule_off: 'Rule disabled',
  suppressed: 'Suppressed',
  topic_unsubscribed: 'Unsubscribed from topic',
  no_address: 'No address',
  domain_not_ready: 'Domain not ready',
  no_sender: 'Sender incomplete',
  public_url: 'No public URL',
  quiet_hours: 'Quiet hours',
  frequency_cap: 'Frequency cap',
  frequency_cap_yielded: 'Lower priority',
  throttle: 'Throttle',
  domain_throttle: 'Domain throttle',
  provider_throttle: 'Provider limit',
  warmup: 'Warm-up',
  needs_review: 'Needs review',
  missing_variable: 'Missing value',
  render_failed: 'Rendering failed',
  replied: 'User replied',
  editing: 'Being edited',
  deferred: 'Deferred by mail server',
  postponed: 'Postponed',
};

/** The state of a draft: an icon and words. */
export function StateMark({ draft }: { draft: Pick<DraftListed, 'state' | 'reason'> }): ReactNode {
  const { icon, tone, label } = STATES[draft.state];
  if (draft.state !== 'held') return <Mark icon={icon} tone={tone} label={label} />;
  const why = REASONS[draft.reason ?? ''] ?? 'Held';
  return (
    <Mark
      icon={draft.reason === 'postponed' ? BellOff : icon}
      tone={tone}
      label={why}
      title={`Held: ${why}`}
    />
  );
}
