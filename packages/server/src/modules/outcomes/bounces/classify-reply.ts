import { classifyText } from './classify-text.ts';
import { normaliseReply, type Stage } from './refusal.ts';
import {
  enhancedStatus,
  type ReplyClass,
  type ReplyClassification,
  type SmtpReply,
  type SmtpStage,
} from '../../../platform/mail/smtp-reply.ts';
import {
  SAYS_CROWDED,
  SAYS_NO_CLIENT,
  SAYS_NO_RELAYING,
  SAYS_RECIPIENT_DENIED,
  SAYS_TOO_FAST,
} from './phrases.ts';

/** Classifies the reply of our own SMTP session, where the stage is known. The words mean the same as in a report. */
export function classifyReply(input: SmtpReply): ReplyClassification {
  const { code, reply } = input;
  const status = enhancedStatus(reply);
  const text = normaliseReply(reply);
  const isRelayFault = isOfRelay(input, status, text);
  const temporary = code < 500;
  return {
    class: classOf(input, status, isRelayFault),
    status,
    isRelayFault,
    retry: temporary || isRelayFault,
    slowDown:
      code === 421 ||
      status?.startsWith('4.7.') === true ||
      (temporary && (SAYS_TOO_FAST.test(text) || SAYS_CROWDED.test(text))),
  };
}

const STAGES: Record<SmtpStage, Stage> = {
  connect: 'before',
  greeting: 'before',
  ehlo: 'before',
  tls: 'before',
  auth: 'before',
  // About the sender and the relay. The recipient is named only after it.
  mail: 'before',
  rcpt: 'rcpt',
  data: 'email',
  body: 'email',
};

/** A relay that requires another account, or rejects ours, refuses every email regardless of its recipient. */
function isOfRelay({ stage, code }: SmtpReply, status: string | null, text: string): boolean {
  // The only refusal at MAIL that is about the email itself: it is too large, and a retry cannot help.
  if (STAGES[stage] === 'before') return !(stage === 'mail' && (code === 552 || status === '5.3.4'));
  if (code < 400 || code === 530 || code === 535 || SAYS_NO_RELAYING.test(text)) return true;
  return stage === 'rcpt' && isNoClient(text);
}

/** The relay accepts emails from other clients only. A greylist uses the same words, but accepts the email soon. */
function isNoClient(text: string): boolean {
  return SAYS_RECIPIENT_DENIED.test(text) || (SAYS_NO_CLIENT.test(text) && !SAYS_TOO_FAST.test(text));
}

function classOf(
  { stage, code, reply }: SmtpReply,
  status: string | null,
  isRelayFault: boolean,
): ReplyClass {
  if (STAGES[stage] === 'before') return isRelayFault ? 'infrastructure' : 'policy';
  if (code < 400) return 'infrastructure';
  const textClass = classifyText({ texts: [reply], status, replyCode: code, stage: STAGES[stage] });
  // In a report these words are about an address. From our own relay they are about us.
  return isRelayFault && (textClass === 'hard' || textClass === 'soft') ? 'policy' : textClass;
}
