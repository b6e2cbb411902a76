import type { WebhookEvent } from '@beckon/contract';
import { iso } from '../../../platform/time/clock.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { ReportedOutcome, Outcome } from '../outcome.ts';
import type { OutcomeEmail } from '../reads.ts';
import { webhookName, type NewWebhook } from '../../webhooks/index.ts';

const REASON_MAX_CHARS = 500;
const SNIPPET_MAX_CHARS = 500;
const URL_MAX_CHARS = 4_000;
const STATUS_MAX_CHARS = 20;

/** Builds the stored outcome. `detail` holds the type-specific fields of the webhook, under their names. */
export function outcomeOf(
  report: ReportedOutcome,
  email: OutcomeEmail,
  { now, newId }: { now: number; newId: NewId },
): Outcome {
  return {
    projectId: report.projectId,
    id: newId(),
    emailId: email.emailId,
    draftId: email.draftId,
    ruleId: email.ruleId,
    userId: email.userId,
    type: report.type,
    link: report.type === 'email.clicked' ? report.link : -1,
    class: classOf(report),
    // A fast clock may date an outcome ahead, so it counts as having occurred when it was received at the latest.
    occurredAt: Math.min(report.occurredAt, now),
    recordedAt: now,
    detail: detailOf(report),
  };
}

/** Returns what may distinguish two outcomes of the same email and type. */
function classOf(report: ReportedOutcome): string {
  switch (report.type) {
    case 'email.opened':
    case 'email.clicked':
      return report.bot;
    case 'email.replied':
      return report.inboundId;
    case 'email.bounced':
      // A bounce from a sender who knows only the Message-ID must not take the place of the real one.
      return report.verified ? '' : 'unverified';
    case 'email.unsubscribed':
      return report.method === 'complaint' ? 'complaint' : '';
    default:
      return report satisfies never;
  }
}

function detailOf(report: ReportedOutcome): Record<string, unknown> {
  switch (report.type) {
    case 'email.opened':
      return botOf(report);
    case 'email.clicked':
      return { ...botOf(report), url: bounded(report.url, URL_MAX_CHARS) };
    case 'email.replied':
      return { snippet: bounded(report.snippet, SNIPPET_MAX_CHARS), auto_reply: false };
    case 'email.bounced': {
      const { bounceClass, status, reason, source } = report;
      return {
        bounce_class: bounceClass,
        status: status === null ? null : bounded(status, STATUS_MAX_CHARS),
        reason: bounded(reason, REASON_MAX_CHARS),
        source,
      };
    }
    case 'email.unsubscribed':
      return { method: report.method };
    default:
      return report satisfies never;
  }
}

function botOf({ bot, botReason }: { bot: string; botReason: string | null }) {
  const reason = botReason === null ? null : bounded(botReason, REASON_MAX_CHARS);
  return { bot, bot_reason: reason };
}

/** Cuts a text at a whole character. NUL and lone surrogates, which jsonb cannot store, are replaced. */
function bounded(text: string, chars: number): string {
  const cut =
    text.length <= chars
      ? text
      : Array.from(text.slice(0, 2 * chars))
          .slice(0, chars)
          .join('');
  return cut.replaceAll('\0', '\u{FFFD}').toWellFormed();
}

/** Builds the webhook body. Every endpoint gets the same bytes. */
export function webhookOf(outcome: Outcome, { rule, livemode }: OutcomeEmail): NewWebhook {
  const { projectId, id, type, userId, emailId, draftId, recordedAt, occurredAt, detail } = outcome;
  const about = {
    external_user_id: userId,
    email_id: emailId,
    draft_id: draftId,
    rule,
    occurred_at: iso(occurredAt),
  };
  const event = {
    id: webhookName(id),
    type,
    timestamp: iso(recordedAt),
    livemode,
    data: { ...about, ...detail },
  };
  const body = JSON.stringify(event as WebhookEvent);
  return { projectId, id, outcomeId: id, type, userId, body, createdAt: recordedAt };
}

/** Returns false for outcomes that anyone who knows a Message-ID could have sent. These are not reported to endpoints. */
export function isCertain({ class: kind }: Outcome): boolean {
  return kind !== 'unverified';
}

/** Returns true if a person caused the outcome, or if it is reliable about their address. Only these outcomes reach rules and audiences. */
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

/** The detail fields that rules may use. */
const RULE_FIELDS = ['url', 'bounce_class', 'method'];

/** Builds the outcome as an event record of its user, for the ingest queue. `own`: the outcome id, which no record from outside has. */
export function eventOf(outcome: Outcome, { rule }: OutcomeEmail): string {
  const { userId, type, emailId, occurredAt, id, detail } = outcome;
  const ruleFields = Object.fromEntries(
    Object.entries(detail).filter(([name]) => RULE_FIELDS.includes(name)),
  );
  return JSON.stringify({
    external_user_id: userId,
    name: type,
    properties: { email_id: emailId, rule, ...ruleFields },
    occurred_at: iso(occurredAt),
    own: id,
  });
}
