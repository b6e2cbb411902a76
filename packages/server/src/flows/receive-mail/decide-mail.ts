import type { BounceClass } from '@beckon/contract';
import { domainPart, normaliseAddress } from '../../base/address.ts';
import type { InboundMail, MailRecipient, MailVerdict } from '../../base/mail-in/index.ts';
import { isPublicMailboxes } from '../../base/public-mailboxes.ts';
import { organizationOf } from '../../features/domains/index.ts';
import type { ReplyKind, ReplySign } from '../../features/replies/index.ts';
import type { MailAuthentication } from '../../io/mail/index.ts';
import type { Claim } from './claim.ts';
import type { Recipient } from './recipient.ts';

/** What is to be done about a mail that concerns a letter of ours, or why nothing is. */
export type Decision =
  | { act: 'nothing'; why: string }
  | {
      act: 'bounce';
      bounceClass: BounceClass;
      status: string | null;
      reason: string;
      /** Whether it may have the address suppressed. */
      verified: boolean;
    }
  | { act: 'complaint' }
  | { act: 'unsubscribe' }
  | {
      act: 'keep';
      kind: ReplyKind;
      verified: ReplySign;
      /** It says that its recipient answered, which ends what is under way to them. */
      isAnswer: boolean;
      forwards: boolean;
    };

export type Question = {
  verdict: MailVerdict;
  mail: Pick<InboundMail, 'from' | 'headers'>;
  addressed: Recipient['use'];
  claim: Claim['by'];
  /** Of the letter. */
  sentAt: number;
  now: number;
  /** Whom the letter went to, normalised. */
  address: string;
  /** Null where nobody was asked: see `needsAuthentication`. */
  authentication: MailAuthentication | null;
};

/** Marks what we handed on: such a mail is neither an answer nor handed on again. */
export const LOOP_HEADER = 'X-Beckon-Forwarded';

/** A seal may have an address suppressed as long as bounces take to come, and some days more. */
const SEAL_KEPT_MS = 30 * 86_400_000;

/** The seal proves everything else; of what somebody writes it matters who. */
export function needsAuthentication(kind: MailVerdict['kind'], addressed: Recipient['use']): boolean {
  return kind !== 'dsn' && kind !== 'complaint' && (addressed !== 'unsubscribe' || kind === 'auto_reply');
}

export function decideMail(question: Question): Decision {
  const { verdict, mail, addressed } = question;
  if (mail.headers.some(({ name }) => name === LOOP_HEADER.toLowerCase()))
    return nothing('forwarded by Beckon');
  switch (verdict.kind) {
    case 'dsn':
      return decideBounce(question);
    case 'complaint':
      return decideComplaint(question);
    case 'auto_reply':
      return decideWritten(question, 'auto_reply');
    case 'unsubscribe':
    case 'reply':
    case 'other':
      if (verdict.feedbackType !== null) return nothing(`a report of ${verdict.feedbackType}`);
      return addressed === 'unsubscribe' ? { act: 'unsubscribe' } : decideWritten(question, 'reply');
    default:
      return verdict.kind satisfies never;
  }
}

function decideBounce({ verdict, claim, sentAt, now, address }: Question): Decision {
  const found = failureOf(verdict.recipients, address);
  if (!found) return nothing('no permanent failure');
  const verified = claim === 'bounce' && now - sentAt <= SEAL_KEPT_MS;
  return { act: 'bounce', ...found, verified };
}

type Failure = { bounceClass: BounceClass; status: string | null; reason: string };

/** What became of our recipient; behind an alias it is another's name, and the first failure is what happened. */
function failureOf(recipients: MailRecipient[], address: string): Failure | null {
  const ours = recipients.find((one) => one.address !== null && normaliseAddress(one.address) === address);
  const candidates = ours ? [ours] : recipients;
  for (const { class: found, final, status, reason } of candidates) {
    if (!final) continue;
    if (found === 'hard' || found === 'soft' || found === 'policy' || found === 'infrastructure')
      return { bounceClass: found, status, reason };
  }
  return null;
}

/** A link to unsubscribe works for ever, and so does a complaint that returns it. */
function decideComplaint({ claim, sentAt, now }: Question): Decision {
  if (claim === 'message_id') return nothing('a complaint without a token');
  if (claim === 'bounce' && now - sentAt > SEAL_KEPT_MS) return nothing('a complaint with an expired token');
  return { act: 'complaint' };
}

function decideWritten(question: Question, kind: ReplyKind): Decision {
  if (question.mail.from === null) return nothing('it has no sender');
  const verified = signOf(question);
  if (verified === null) return nothing('it does not name the email that it replies to');
  const isHuman = kind === 'reply' && verified !== 'failed';
  return {
    act: 'keep',
    kind,
    verified,
    isAnswer: isHuman && verified !== 'token',
    forwards: isHuman,
  };
}

function signOf({ mail, claim, address, authentication }: Question): ReplySign | null {
  const { dmarc, policy } = authentication ?? { dmarc: 'unknown', policy: 'none' };
  const from = mail.from === null ? '' : normaliseAddress(mail.from);
  if (claim === 'message_id') return from === address && dmarc === 'pass' ? 'reference' : null;
  if (dmarc === 'fail' && policy !== 'none') return 'failed';
  if (from === address) return 'recipient';
  return dmarc === 'pass' && isOfSameOrganization(from, address) ? 'domain' : 'token';
}

function isOfSameOrganization(one: string, other: string): boolean {
  const organization = organizationOf(domainPart(one));
  return organization === organizationOf(domainPart(other)) && !isPublicMailboxes(organization);
}

function nothing(why: string): Decision {
  return { act: 'nothing', why };
}
