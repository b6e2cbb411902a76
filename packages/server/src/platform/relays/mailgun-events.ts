import type { ReplyClass } from '../mail/smtp-reply.ts';
import { enhancedStatus } from '../mail/smtp-reply.ts';
import type { RelayEvent, RelayEventKind } from './adapter.ts';
import { asCode, asObject, asReply, asSeconds, asText, type Json } from './json.ts';

/** The variable with the token of an email, which Mailgun returns with each event. */
export const MAILGUN_VARIABLE = 'beckon';

/** Reasons for which Mailgun did not try to deliver. For the others the text of the receiving server decides. */
const REASONS: Record<string, ReplyClass> = {
  'suppress-bounce': 'hard',
  'suppress-complaint': 'policy',
  'suppress-unsubscribe': 'policy',
};
/** Codes of Mailgun itself, beyond those of SMTP. */
const CODES: Record<number, ReplyClass> = { 605: 'hard', 606: 'policy', 607: 'policy' };

/** Returns the event of a webhook or of a list. */
export function mailgunEvent(data: Json, eventId: string): RelayEvent[] {
  const status = asObject(data['delivery-status']);
  const kind = kindOf(data);
  if (kind === null) return [];
  const reject = asObject(data['reject']);
  const text = asReply(status['message']) || asReply(status['description']) || asReply(reject['reason']);
  const messageHeaders = asObject(asObject(data['message'])['headers']);
  return [
    {
      eventId,
      kind,
      token: asText(asObject(data['user-variables'])[MAILGUN_VARIABLE]),
      relayEmailId: bareId(messageHeaders['message-id']),
      recipient: asText(data['recipient']),
      bounceClass: classOf(data, status['code']),
      code: asCode(status['code']),
      status: enhancedStatus(asText(status['enhanced-code']) ?? '') ?? enhancedStatus(text),
      text,
      at: asSeconds(data['timestamp']),
    },
  ];
}

function kindOf({ event, severity, reason }: Json): RelayEventKind | null {
  if (event === 'failed' && severity === 'temporary') return 'deferred';
  if (event === 'failed') return Object.hasOwn(REASONS, asText(reason) ?? '') ? 'dropped' : 'bounced';
  if (event === 'rejected') return 'dropped';
  return event === 'delivered' || event === 'complained' ? event : null;
}

function classOf({ event, reason }: Json, code: unknown): ReplyClass | null {
  const name = asText(reason) ?? '';
  if (Object.hasOwn(REASONS, name)) return REASONS[name] ?? null;
  if (event === 'rejected') return 'policy';
  return typeof code === 'number' && Object.hasOwn(CODES, code) ? (CODES[code] ?? null) : null;
}

export function bareId(value: unknown): string | null {
  return asText(value)?.replace(/^<|>$/g, '') ?? null;
}
