import type { WebhookEvent } from '@beckon/contract';
import { iso } from '../../base/clock.ts';
import type { NewId } from '../../base/ids.ts';
import type { Happened, Outcome, OutcomeLetter } from '../../features/outcomes/index.ts';
import { messageName, type NewWebhookMessage } from '../../features/webhooks/index.ts';

const REASON_MAX_CHARS = 500;
const SNIPPET_MAX_CHARS = 500;
const URL_MAX_CHARS = 4_000;
const STATUS_MAX_CHARS = 20;

/** As it is kept: `detail` is what the webhook says besides, under its names. */
export function outcomeOf(
  happened: Happened,
  letter: OutcomeLetter,
  { now, newId }: { now: number; newId: NewId },
): Outcome {
  return {
    projectId: happened.projectId,
    id: newId(),
    messageId: letter.messageId,
    draftId: letter.draftId,
    ruleId: letter.ruleId,
    userId: letter.userId,
    type: happened.type,
    link: happened.type === 'email.clicked' ? happened.link : -1,
    class: classOf(happened),
    // What a fast clock dates ahead happened when it was heard of.
    occurredAt: Math.min(happened.occurredAt, now),
    recordedAt: now,
    detail: detailOf(happened),
  };
}

/** What two outcomes of one letter and type may differ in. */
function classOf(happened: Happened): string {
  switch (happened.type) {
    case 'email.opened':
    case 'email.clicked':
      return happened.bot;
    case 'email.replied':
      return happened.inboundId;
    case 'email.bounced':
      // So that who knows no more than a Message-ID cannot stand in the way of the true one.
      return happened.verified ? '' : 'unverified';
    case 'email.unsubscribed':
      return happened.method === 'complaint' ? 'complaint' : '';
    default:
      return happened satisfies never;
  }
}

function detailOf(happened: Happened): Record<string, unknown> {
  switch (happened.type) {
    case 'email.opened':
      return botOf(happened);
    case 'email.clicked':
      return { ...botOf(happened), url: bounded(happened.url, URL_MAX_CHARS) };
    case 'email.replied':
      return { snippet: bounded(happened.snippet, SNIPPET_MAX_CHARS), auto_reply: false };
    case 'email.bounced': {
      const { bounceClass, status, reason, source } = happened;
      return {
        bounce_class: bounceClass,
        status: status === null ? null : bounded(status, STATUS_MAX_CHARS),
        reason: bounded(reason, REASON_MAX_CHARS),
        source,
      };
    }
    case 'email.unsubscribed':
      return { method: happened.method };
    default:
      return happened satisfies never;
  }
}

function botOf({ bot, botReason }: { bot: string; botReason: string | null }) {
  const reason = botReason === null ? null : bounded(botReason, REASON_MAX_CHARS);
  return { bot, bot_reason: reason };
}

/** In whole characters; NUL and lone surrogates, which no jsonb holds, are written as what they are not. */
function bounded(text: string, chars: number): string {
  const cut =
    text.length <= chars
      ? text
      : Array.from(text.slice(0, 2 * chars))
          .slice(0, chars)
          .join('');
  return cut.replaceAll('\0', '\u{FFFD}').toWellFormed();
}

/** The one body that every endpoint gets, byte for byte. */
export function webhookOf(outcome: Outcome, { rule, livemode }: OutcomeLetter): NewWebhookMessage {
  const { projectId, id, type, userId, messageId, draftId, recordedAt, occurredAt, detail } = outcome;
  const about = {
    external_user_id: userId,
    email_id: messageId,
    draft_id: draftId,
    rule,
    occurred_at: iso(occurredAt),
  };
  const event = {
    id: messageName(id),
    type,
    timestamp: iso(recordedAt),
    livemode,
    data: { ...about, ...detail },
  };
  const body = JSON.stringify(event as WebhookEvent);
  return { projectId, id, outcomeId: id, type, userId, body, createdAt: recordedAt };
}

/** Whether it is certain whose it is: of what anybody could have sent who knows a Message-ID nobody is told. */
export function isCertain({ class: kind }: Outcome): boolean {
  return kind !== 'unverified';
}

/** Whether it is a person's doing, or says something true of their address: what rules and audiences hear of. */
export function isOfPerson(outcome: Outcome): boolean {
  const { type, class: kind } = outcome;
  switch (type) {
    case 'email.opened':
    case 'email.clicked':
      return kind === 'no';
    case 'email.bounced':
      return isCertain(outcome);
    case 'email.replied':
    case 'email.unsubscribed':
      return true;
    default:
      return type satisfies never;
  }
}

/** Of the detail, what a rule may ask about. */
const ASKED = ['url', 'bounce_class', 'method'];

/** The outcome as an event of its person, as the digest takes it in. `own`: the id; nobody else's record has one. */
export function eventOf(outcome: Outcome, { rule }: OutcomeLetter): string {
  const { userId, type, messageId, occurredAt, id, detail } = outcome;
  const asked = Object.fromEntries(Object.entries(detail).filter(([name]) => ASKED.includes(name)));
  return JSON.stringify({
    external_user_id: userId,
    name: type,
    properties: { email_id: messageId, rule, ...asked },
    occurred_at: iso(occurredAt),
    own: id,
  });
}
