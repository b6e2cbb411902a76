import type { ReplyListed, ReplySignName } from '@beckon/contract/dashboard';
import { BadgeCheck, Bot, Check, CircleAlert, Clock, Minus, ShieldAlert, UserRoundCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark, type MarkProps } from '../../parts/index.ts';

const SIGNS: Record<ReplySignName, MarkProps> = {
  recipient: {
    icon: BadgeCheck,
    tone: 'good',
    label: 'The recipient',
    title: 'It came to the sealed address of the letter, from whom the letter went to',
  },
  domain: {
    icon: UserRoundCheck,
    tone: 'good',
    label: 'Same organization',
    title: 'It came to the sealed address of the letter, from their organization, as DMARC proves',
  },
  reference: {
    icon: BadgeCheck,
    tone: 'good',
    label: 'The recipient',
    title: 'It names our letter and is from the recipient, as DMARC proves',
  },
  token: {
    icon: CircleAlert,
    tone: 'warn',
    label: 'Somebody else',
    title:
      'It came to the sealed address of the letter, from an address that is not theirs: it may have been passed on',
  },
  failed: {
    icon: ShieldAlert,
    tone: 'bad',
    label: 'Forged',
    title: 'The domain that it says to be from has it refused',
  },
};

/** By what is told whose answer it is. */
export function SignMark({ reply }: { reply: Pick<ReplyListed, 'verified' | 'auto_reply'> }): ReactNode {
  if (reply.auto_reply)
    return (
      <Mark icon={Bot} tone="quiet" label="A machine" title="It answers for somebody, and stops nothing" />
    );
  return <Mark {...SIGNS[reply.verified]} />;
}

const FORWARDS: Record<ReplyListed['forward'], MarkProps> = {
  none: { icon: Minus, tone: 'quiet', label: 'No' },
  waiting: { icon: Clock, tone: 'info', label: 'Soon' },
  done: { icon: Check, tone: 'good', label: 'Handed on' },
  failed: { icon: CircleAlert, tone: 'bad', label: 'Trouble' },
};

export function ForwardMark({ reply }: { reply: Pick<ReplyListed, 'forward' | 'forward_error'> }): ReactNode {
  const { forward, forward_error: trouble } = reply;
  return <Mark {...FORWARDS[forward]} {...(trouble === null ? {} : { title: trouble })} />;
}
