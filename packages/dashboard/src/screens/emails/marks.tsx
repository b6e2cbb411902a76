import type { EmailListed, EmailOutcome, EmailState } from '@beckon/contract/dashboard';
import {
  Ban,
  Bot,
  CircleAlert,
  CircleCheck,
  CircleHelp,
  Clock,
  type LucideIcon,
  MailOpen,
  MousePointerClick,
  Reply,
  Send,
  TriangleAlert,
  Undo2,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { Group } from '@mantine/core';
import { Mark, type Tone } from '../../parts/index.ts';

type MarkStyle = { icon: LucideIcon; tone: Tone; label: string; title?: string };

const STATES: Record<EmailState, MarkStyle> = {
  claimed: { icon: Clock, tone: 'info', label: 'Queued' },
  submitting: { icon: Send, tone: 'info', label: 'Sending' },
  deferred: { icon: Clock, tone: 'warn', label: 'Deferred' },
  sent: { icon: CircleCheck, tone: 'good', label: 'Sent' },
  failed: { icon: CircleAlert, tone: 'bad', label: 'Failed' },
  unknown: { icon: CircleHelp, tone: 'warn', label: 'Delivery unknown' },
};

/** The state of an email. A bounce takes precedence over an earlier acceptance by the relay. */
export function StateMark({
  email,
}: {
  email: Pick<EmailListed, 'state' | 'reason_text' | 'outcomes'>;
}): ReactNode {
  const { state, reason_text: words, outcomes } = email;
  if (state === 'sent' && outcomes.includes('bounced'))
    return <Mark icon={Undo2} tone="bad" label="Bounced" />;
  return <Mark {...STATES[state]} {...(words === null ? {} : { title: words })} />;
}

const OUTCOMES: Record<EmailOutcome, MarkStyle> = {
  opened: { icon: MailOpen, tone: 'good', label: 'Opened' },
  clicked: { icon: MousePointerClick, tone: 'good', label: 'Clicked' },
  bot_opened: { icon: Bot, tone: 'quiet', label: 'Opened by bot', title: 'Classified as a bot, not counted' },
  bot_clicked: {
    icon: Bot,
    tone: 'quiet',
    label: 'Clicked by bot',
    title: 'Classified as a bot, not counted',
  },
  replied: { icon: Reply, tone: 'good', label: 'Replied' },
  bounced: { icon: Undo2, tone: 'bad', label: 'Bounced' },
  complained: { icon: TriangleAlert, tone: 'bad', label: 'Complaint' },
  unsubscribed: { icon: Ban, tone: 'warn', label: 'Unsubscribed' },
};

/** The outcomes of an email; those by bots only if no human did the same. */
export function OutcomeMarks({ outcomes }: { outcomes: EmailOutcome[] }): ReactNode {
  const names = outcomes.filter(
    (name) =>
      !(name === 'bot_opened' && outcomes.includes('opened')) &&
      !(name === 'bot_clicked' && outcomes.includes('clicked')),
  );
  if (names.length === 0) return <span aria-label="none yet">–</span>;
  return (
    <Group gap={6} wrap="wrap">
      {names.map((name) => (
        <Mark key={name} {...OUTCOMES[name]} />
      ))}
    </Group>
  );
}
