import type { EmailListed, EmailWhole, LetterHit, ReplyListed } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { withoutPixel, type Letter } from '../../sending/index.ts';
import type { JudgedHit, Reply } from '../../inbound/index.ts';
import { reasonWords } from '../../explain/index.ts';
import { countRemoteImages } from '../../../platform/outbound/inline-images.ts';
import type { ShownLetter } from './show-email.ts';
import { bounceClassOf, botOf, botWords, outcomeWords } from './outcome-words.ts';
import { type Redact, redactMail } from './redact-email.ts';

export function toListed(letter: Letter): EmailListed {
  return {
    id: letter.id,
    draft_id: letter.draftId,
    rule_id: letter.ruleId,
    rule: letter.rule,
    template: letter.template,
    external_user_id: letter.userId,
    address: letter.address,
    subject: letter.subject,
    state: letter.state,
    reason: letter.reason,
    reason_text: letter.reason === null ? null : reasonWords(letter.reason, 'draft'),
    domain: letter.domain,
    provider: letter.provider,
    attempts: letter.attempts,
    reply: letter.reply,
    claimed_at: iso(letter.claimedAt),
    ended_at: isoOrNull(letter.endedAt),
    outcomes: letter.became,
  };
}

export function toWhole(shown: ShownLetter, redact: Redact): EmailWhole {
  const { letter, outcomes, urls, hits } = shown;
  return {
    ...toListed(letter),
    user_time_zone: shown.zone,
    first_attempt_at: isoOrNull(letter.firstAt),
    lease_until: isoOrNull(letter.nextAt),
    relay_id: letter.relayId,
    raw: toRaw(shown, redact),
    hits: hits.map((hit) => toHit(hit, urls)),
    hit_count: shown.hitsCounted,
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
    webhooks: shown.told.map((told) => ({
      id: told.messageId,
      type: told.type,
      endpoint_id: told.endpointId,
      url: told.url,
      state: told.state,
      attempts: told.attempts,
      created_at: told.createdAt.toISOString(),
      delivered_at: told.deliveredAt?.toISOString() ?? null,
    })),
    replies: shown.replies.map(toReplyListed),
    send_again: shown.sendAgain,
  };
}

function toRaw({ raw }: ShownLetter, redact: Redact): EmailWhole['raw'] {
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

function toHit({ number, kind, link, at, bot, botReason, agent }: JudgedHit, urls: string[]): LetterHit {
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

function clicksOf(hits: JudgedHit[], link: number, ofPeople: boolean): number {
  const clicks = hits.filter((hit) => hit.kind === 'click' && hit.link === link && hit.bot !== null);
  return clicks.filter(({ bot }) => (bot === 'no') === ofPeople).length;
}

export function toReplyListed(reply: Reply): ReplyListed {
  return {
    id: reply.id,
    email_id: reply.messageId,
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
