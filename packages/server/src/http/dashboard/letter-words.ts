import type { BounceClass, BotVerdict, UnsubscribeMethod } from '@beckon/contract';
import type { BotReason, Outcome } from '../../features/outcomes/index.ts';

const BOT_WORDS: Record<BotReason, string> = {
  prefetch: 'it said of itself that it looks ahead',
  image_proxy: 'a mailbox fetched it for the person',
  bare_agent: 'a mail program that fetches everything for everybody',
  no_agent: 'it did not say what it is',
  scanner: 'a mail filter that names itself',
  bot: 'a robot that names itself',
  trap: 'it followed a link that no person sees',
  burst: 'it followed several links within two seconds',
  early: 'it came sooner than anybody can read',
  image_proxy_early: 'a mailbox fetched it as the letter arrived',
  same_client: 'it browses as a machine that was found out a moment before or after',
};

/** Why something was taken for a machine, or for a person all the same. */
export function botWords(reason: string | null): string | null {
  if (reason === null) return null;
  const words: Record<string, string> = BOT_WORDS;
  return words[reason] ?? reason.replaceAll('_', ' ');
}

const BOUNCE_WORDS: Record<BounceClass, string> = {
  hard: 'Came back: there is no such mailbox',
  soft: 'Came back: the mailbox took nothing for too long',
  policy: 'Came back: refused for what it is or whom it is from',
  infrastructure: 'Came back: a server on the way failed',
};

const UNSUBSCRIBE_WORDS: Record<UnsubscribeMethod, string> = {
  one_click: 'Unsubscribed with the button of their mail program',
  link: 'Unsubscribed on the page of the letter',
  mailto: 'Unsubscribed by mail',
  complaint: 'Complained that it is spam',
};

/** What became of a letter, in one line. */
export function outcomeWords({ type, detail }: Pick<Outcome, 'type' | 'detail'>): string {
  switch (type) {
    case 'email.opened':
      return `Opened${byWhom(detail)}`;
    case 'email.clicked':
      return `Link followed${byWhom(detail)}`;
    case 'email.replied':
      return 'Answered';
    case 'email.bounced': {
      const kind = bounceClassOf(detail);
      return kind === null ? 'Came back' : BOUNCE_WORDS[kind];
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
  if (verdict === 'no') return ' by a person';
  return verdict === 'yes' ? ' by a machine' : ' by what may be a machine';
}

export function botOf({ bot }: Outcome['detail']): BotVerdict | null {
  return bot === 'yes' || bot === 'probable' || bot === 'no' ? bot : null;
}

export function bounceClassOf({ bounce_class: kind }: Outcome['detail']): BounceClass | null {
  return typeof kind === 'string' && Object.hasOwn(BOUNCE_WORDS, kind) ? (kind as BounceClass) : null;
}
