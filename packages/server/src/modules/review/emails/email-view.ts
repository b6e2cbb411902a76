import type { BotLikelihood, BounceClass, UnsubscribeMethod } from '@beckon/contract';
import type { EmailListed, EmailWhole, EmailHit, ReplyListed } from '@beckon/contract/dashboard';
import { reasonWords } from '../../explain/index.ts';
import type { ClassifiedHit, Reply, BotReason } from '../../inbound/index.ts';
import type { Outcome } from '../../outcomes/index.ts';
import { type Redact, redactMail } from './redact-email.ts';
import type { EmailView } from './show-email.ts';
import type { EmailRecord } from '../../sending/index.ts';
import { countRemoteImages } from '../../../platform/outbound/inline-images.ts';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';

export function withReason<T extends EmailRecord>(email: T): T & Pick<EmailListed, 'reason_text'> {
  return { ...email, reason_text: email.reason === null ? null : reasonWords(email.reason, 'draft') };
}

export function toEmailWhole(view: EmailView, redact: Redact): EmailWhole {
  const { email, outcomes, urls, hits } = view;
  return {
    ...withReason(email),
    user_time_zone: view.zone,
    raw: toRaw(view, redact),
    hits: hits.map((hit) => toHit(hit, urls)),
    hit_count: view.hitsCounted,
    outcome_history: outcomes.map((outcome) => ({
      id: outcome.id,
      type: outcome.type,
      occurred_at: iso(outcome.occurredAt),
      bot: botOf(outcome.detail),
      bounce_class: bounceClassOf(outcome.detail),
      text: outcomeWords(outcome),
    })),
    links: urls.map((url, link) => ({
      url,
      clicks: clicksOf(hits, link, true),
      bot_clicks: clicksOf(hits, link, false),
    })),
    webhooks: view.webhooks,
    replies: view.replies.map(toReplyListed),
    send_again: view.sendAgain,
  };
}

function toRaw({ raw }: EmailView, redact: Redact): EmailWhole['raw'] {
  if (!raw) return null;
  const { mailFrom, rcptTo, mime, mail } = raw;
  const { headers, text } = redactMail(mail, redact);
  return {
    mail_from: redact(mailFrom),
    rcpt_to: rcptTo,
    size: mime.length,
    headers,
    text,
    has_html: mail.html !== '',
    remote_images: countRemoteImages(withoutPixel(mail.html)),
  };
}

function toHit({ number, kind, link, at, bot, botReason, agent }: ClassifiedHit, urls: string[]): EmailHit {
  return {
    number,
    kind,
    url: link === null ? null : (urls[link] ?? null),
    at: iso(at),
    bot,
    reason: botReason,
    reason_text: botWords(botReason),
    agent,
  };
}

function clicksOf(hits: ClassifiedHit[], link: number, ofPeople: boolean): number {
  const clicks = hits.filter((hit) => hit.kind === 'click' && hit.link === link && hit.bot !== null);
  return clicks.filter(({ bot }) => (bot === 'no') === ofPeople).length;
}

export function toReplyListed(reply: Reply): ReplyListed {
  return {
    id: reply.id,
    email_id: reply.emailId,
    draft_id: reply.draftId,
    external_user_id: reply.userId,
    received_at: iso(reply.receivedAt),
    from: reply.fromAddress,
    from_name: reply.fromName,
    subject: reply.subject,
    text: reply.text,
    auto_reply: reply.kind === 'auto_reply',
    verified: reply.verified,
    forward: forwardOf(reply),
    forward_at: isoOrNull(reply.forwardAt),
    forwarded_at: isoOrNull(reply.forwardedAt),
    forward_error: reply.forwardError,
  };
}

function forwardOf({ forwardAt, forwardedAt, forwardError }: Reply): ReplyListed['forward'] {
  if (forwardAt !== null && forwardError === null) return 'waiting';
  if (forwardError !== null) return 'failed';
  return forwardedAt === null ? 'none' : 'done';
}

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
function botWords(reason: string | null): string | null {
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
function outcomeWords({ type, detail }: Pick<Outcome, 'type' | 'detail'>): string {
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
  const bot = botOf(detail);
  if (bot === 'no') return ' by a human';
  return bot === 'yes' ? ' by a bot' : ' by a probable bot';
}

function botOf({ bot }: Outcome['detail']): BotLikelihood | null {
  return bot === 'yes' || bot === 'probable' || bot === 'no' ? bot : null;
}

function bounceClassOf({ bounce_class: kind }: Outcome['detail']): BounceClass | null {
  return typeof kind === 'string' && Object.hasOwn(BOUNCE_WORDS, kind) ? (kind as BounceClass) : null;
}

const PIXEL =
  /<img\b[^<>]*\ssrc\s*=\s*["']https?:\/\/[^"'/]+\/o\/[a-z2-7]{34}\.[a-z2-7]{16}\.gif["'][^<>]*>/gi;

/** Removes the tracking pixel, so that a member who views the email with its images records no open. */
export function withoutPixel(html: string): string {
  return html.replaceAll(PIXEL, '');
}
