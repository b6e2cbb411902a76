import type { BounceClass, BotVerdict, UnsubscribeMethod } from '@beckon/contract';
import type { BotReason, Outcome } from '../../outcomes/index.ts';

const BOT_WORDS: Record<BotReason, string> = {
  prefetch: 'marked as a prefetch',
  image_proxy: 'image proxy of the mailbox, on behalf of the user',
  bare_agent: 'email client that loads all images automatically',
  no_agent: 'no user agent',
  scanner: 'security scanner',
  bot: 'known bot',
  trap: 'followed a hidden link',
  burst: 'followed several links within two seconds',
  early: 'too soon after delivery for a human',
  image_proxy_early: 'image proxy, at the delivery of the email',
  same_client: 'same client as a bot detected just before or after',
};

/** Describes the reason of the classification as human or bot. */
export function botWords(reason: string | null): string | null {
  if (reason === null) return null;
  const words: Record<string, string> = BOT_WORDS;
  return words[reason] ?? reason.replaceAll('_', ' ');
}

const BOUNCE_WORDS: Record<BounceClass, string> = {
  hard: 'Bounced: invalid address',
  soft: 'Bounced: temporary failures for too long',
  policy: 'Bounced: rejected by policy',
  infrastructure: 'Bounced: server failure',
};

const UNSUBSCRIBE_WORDS: Record<UnsubscribeMethod, string> = {
  one_click: 'Unsubscribed with the button of the email client',
  link: 'Unsubscribed on the email preferences page',
  mailto: 'Unsubscribed by email',
  complaint: 'Reported as spam',
};

/** Describes an outcome in one line. */
export function outcomeWords({ type, detail }: Pick<Outcome, 'type' | 'detail'>): string {
  switch (type) {
    case 'email.opened':
      return `Opened${byWhom(detail)}`;
    case 'email.clicked':
      return `Clicked${byWhom(detail)}`;
    case 'email.replied':
      return 'Replied';
    case 'email.bounced': {
      const kind = bounceClassOf(detail);
      return kind === null ? 'Bounced' : BOUNCE_WORDS[kind];
    }
    case 'email.unsubscribed':
      return unsubscribedWords(detail.method);
    default:
      return type satisfies never;
  }
}

function unsubscribedWords(method: unknown): string {
  const words: Record<string, string> = UNSUBSCRIBE_WORDS;
  return words[String(method)] ?? 'Unsubscribed';
}

function byWhom(detail: Outcome['detail']): string {
  const verdict = botOf(detail);
  if (verdict === 'no') return ' by a human';
  return verdict === 'yes' ? ' by a bot' : ' by a probable bot';
}

export function botOf({ bot }: Outcome['detail']): BotVerdict | null {
  return bot === 'yes' || bot === 'probable' || bot === 'no' ? bot : null;
}

export function bounceClassOf({ bounce_class: kind }: Outcome['detail']): BounceClass | null {
  return typeof kind === 'string' && Object.hasOwn(BOUNCE_WORDS, kind) ? (kind as BounceClass) : null;
}
