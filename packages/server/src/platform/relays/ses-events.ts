import type { ReplyClass } from '../mail/smtp-reply.ts';
import { enhancedStatus } from '../mail/smtp-reply.ts';
import type { RelayEvent, RelayEventKind } from './adapter.ts';
import { tokenOfTag } from './fields.ts';
import { asList, asObject, asReply, asText, asTime, type Json } from './json.ts';

/**
 * Events and notifications of Amazon SES, which differ in the name of their type only:
 * https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
 */
export const SES_TAG = 'beckon';

/** Subtypes of bounces, by https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounce-types. */
const SUBTYPES: Record<string, ReplyClass> = {
  NoEmail: 'hard',
  Suppressed: 'hard',
  OnAccountSuppressionList: 'hard',
  MailboxFull: 'soft',
  MessageTooLarge: 'policy',
  CustomTimeoutExceeded: 'infrastructure',
  ContentRejected: 'policy',
  AttachmentRejected: 'policy',
};
const TYPES: Record<string, ReplyClass> = { Permanent: 'hard', Transient: 'soft' };

type Report = Pick<RelayEvent, 'kind' | 'bounceClass'> & { recipients: unknown; about: Json; text?: string };

const REPORTS: Record<string, (event: Json) => Report> = {
  Bounce: ({ bounce }) => {
    const about = asObject(bounce);
    return { ...report('bounced', about, about['bouncedRecipients']), bounceClass: bounceClass(about) };
  },
  Complaint: ({ complaint }) => {
    const about = asObject(complaint);
    return report('complained', about, about['complainedRecipients']);
  },
  Delivery: ({ delivery }) => {
    const about = asObject(delivery);
    const found = report('delivered', about, about['recipients']);
    return { ...found, text: asReply(about['smtpResponse']) };
  },
  DeliveryDelay: ({ deliveryDelay }) => {
    const about = asObject(deliveryDelay);
    return report('deferred', about, about['delayedRecipients']);
  },
  Reject: ({ reject, mail }) => {
    const about = asObject(reject);
    const found = report('dropped', about, asObject(mail)['destination']);
    return { ...found, bounceClass: 'policy', text: asReply(about['reason']) };
  },
};

function report(kind: RelayEventKind, about: Json, recipients: unknown): Report {
  return { kind, about, recipients, bounceClass: null };
}

/** Returns the events of a notification, one for each recipient. `id` is that of the message that contained it. */
export function sesEvents(id: string, event: Json): RelayEvent[] {
  const type = asText(event['eventType']) ?? asText(event['notificationType']) ?? '';
  const read = Object.hasOwn(REPORTS, type) ? REPORTS[type] : undefined;
  if (!read) return [];
  const { recipients, about, text, ...found } = read(event);
  const mail = asObject(event['mail']);
  const common = {
    ...found,
    token: tokenOfTag(asText(asList(asObject(mail['tags'])[SES_TAG], 1)[0])),
    relayEmailId: asText(mail['messageId']),
    code: null,
    at: asTime(about['timestamp']) ?? asTime(mail['timestamp']),
  };
  return asList(recipients, RECIPIENTS_MAX).map((value, index) => {
    const recipient = asObject(value);
    const words = text ?? asReply(recipient['diagnosticCode']);
    return {
      ...common,
      eventId: `${id}:${index}`,
      recipient: asText(recipient['emailAddress'] ?? value),
      status: enhancedStatus(asText(recipient['status']) ?? '') ?? enhancedStatus(words),
      text: words,
    };
  });
}

/** Beckon sends to one recipient at a time. */
const RECIPIENTS_MAX = 50;

function bounceClass(bounce: Json): ReplyClass | null {
  const subType = asText(bounce['bounceSubType']) ?? '';
  if (Object.hasOwn(SUBTYPES, subType)) return SUBTYPES[subType] ?? null;
  const type = asText(bounce['bounceType']) ?? '';
  return Object.hasOwn(TYPES, type) ? (TYPES[type] ?? null) : null;
}
