import type { ReplyListed, ReplySignName } from '@beckon/contract/dashboard';
import { BadgeCheck, Bot, Check, CircleAlert, Clock, Minus, ShieldAlert, UserRoundCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type MarkProps } from '../../parts/index.ts';

const SIGNS: Record<ReplySignName, MarkProps> = {
  recipient: {
    icon: BadgeCheck,
    tone: 'good',
    label: 'Recipient',
    title: 'Sent to the email’s signed reply address, from the recipient',
  },
  domain: {
    icon: UserRoundCheck,
    tone: 'good',
    label: 'Same organization',
    title: 'Sent to the email’s signed reply address, from the recipient’s organization (verified by DMARC)',
  },
  reference: {
    icon: BadgeCheck,
    tone: 'good',
    label: 'Recipient',
    title: 'Refers to the email and comes from the recipient (verified by DMARC)',
  },
  token: {
    icon: CircleAlert,
    tone: 'warn',
    label: 'Other sender',
    title: 'Sent to the email’s signed reply address from another address: the email may have been forwarded',
  },
  failed: {
    icon: ShieldAlert,
    tone: 'bad',
    label: 'Forged',
    title: 'The sender’s domain rejects this email (DMARC), or the email names two authors',
  },
};

/** How the sender of a reply was identified. */
export function SignMark({ reply }: { reply: Pick<ReplyListed, 'verified' | 'auto_reply'> }): ReactNode {
  if (reply.auto_reply)
    return <Mark icon={Bot} tone="quiet" label="Automatic reply" title="Does not end a sequence" />;
  return <Mark {...SIGNS[reply.verified]} />;
}

const FORWARDS: Record<ReplyListed['forward'], MarkProps> = {
  none: { icon: Minus, tone: 'quiet', label: 'Not forwarded' },
  waiting: { icon: Clock, tone: 'info', label: 'Pending' },
  done: { icon: Check, tone: 'good', label: 'Forwarded' },
  failed: { icon: CircleAlert, tone: 'bad', label: 'Failed' },
};

export function ForwardMark({ reply }: { reply: Pick<ReplyListed, 'forward' | 'forward_error'> }): ReactNode {
  const { forward, forward_error: error } = reply;
  return <Mark {...FORWARDS[forward]} {...(error === null ? {} : { title: error })} />;
}
