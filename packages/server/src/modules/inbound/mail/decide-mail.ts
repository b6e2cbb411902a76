import type { BounceClass } from '@beckon/contract';
import type { MailRecipient, MailClassification } from '../classification/classification.ts';
import type { InboundMail } from '../classification/mail.ts';
import type { MailAuthentication } from './authenticate.ts';
import type { InboundReference, InboundRecipient } from './match-email.ts';
import type { ReplyKind, ReplySign } from '../replies/reply.ts';
import { organizationOf } from '../../sending/index.ts';
import { domainPart, normaliseAddress } from '../../../platform/net/address.ts';

/** The action for an inbound email that refers to one of our emails, or the reason for no action. */
export type InboundAction =
  | { act: 'nothing'; why: string }
  | {
      act: 'bounce';
      bounceClass: BounceClass;
      status: string | null;
      reason: string;
      /** True if the bounce may suppress the address. */
      verified: boolean;
    }
  | { act: 'complaint' }
  | { act: 'unsubscribe' }
  | {
      act: 'keep';
      kind: ReplyKind;
      verified: ReplySign;
      /** True if the recipient replied, which ends what is under way to them. */
      isReply: boolean;
      forwards: boolean;
    };

export type InboundActionInput = {
  classification: MailClassification;
  mail: Pick<InboundMail, 'from' | 'headers'>;
  addressed: InboundRecipient['use'];
  claim: InboundReference['by'];
  /** When the email was created, by its id. */
  sentAt: number;
  now: number;
  /** The normalized address that the email was sent to. */
  address: string;
  /** Null if the author was not checked: see `needsAuthentication`. */
  authentication: MailAuthentication | null;
};

/** Marks forwarded replies. Such an email is not a reply and is not forwarded again. */
export const LOOP_HEADER = 'X-Beckon-Forwarded';

/** The reason for an email that names ours only by its Message-ID. */
export const UNPROVEN = 'nothing proves that its recipient wrote it';

/** How long a bounce token may suppress an address: as long as bounces take to arrive, plus some days. */
const TOKEN_KEPT_MS = 30 * 86_400_000;

/** Returns true if it matters who wrote the email. In all other cases the token is proof enough. */
export function needsAuthentication(
  kind: MailClassification['kind'],
  addressed: InboundRecipient['use'],
): boolean {
  return kind !== 'dsn' && kind !== 'complaint' && (addressed !== 'unsubscribe' || kind === 'auto_reply');
}

export function decideMail(input: InboundActionInput): InboundAction {
  const { classification, mail, addressed } = input;
  if (mail.headers.some(({ name }) => name === LOOP_HEADER.toLowerCase()))
    return nothing('forwarded by Beckon');
  switch (classification.kind) {
    case 'dsn':
      return decideBounce(input);
    case 'complaint':
      return decideComplaint(input);
    case 'auto_reply':
      return decideWritten(input, 'auto_reply');
    case 'unsubscribe':
    case 'reply':
    case 'other':
      if (classification.feedbackType !== null) return nothing(`a report of ${classification.feedbackType}`);
      return addressed === 'unsubscribe' ? { act: 'unsubscribe' } : decideWritten(input, 'reply');
    default:
      return classification.kind satisfies never;
  }
}

function decideBounce({ classification, claim, sentAt, now, address }: InboundActionInput): InboundAction {
  const found = failureOf(classification.recipients, address);
  if (!found) return nothing('no permanent failure');
  const verified = claim === 'bounce' && now - sentAt <= TOKEN_KEPT_MS;
  return { act: 'bounce', ...found, verified };
}

type Failure = { bounceClass: BounceClass; status: string | null; reason: string };

/** Returns the failure of our recipient. Behind an alias the report names another address, so the first failure counts. */
function failureOf(recipients: MailRecipient[], address: string): Failure | null {
  const ours = recipients.find(
    (recipient) => recipient.address !== null && normaliseAddress(recipient.address) === address,
  );
  const candidates = ours ? [ours] : recipients;
  for (const { class: found, final, status, reason } of candidates) {
    if (!final) continue;
    if (found === 'hard' || found === 'soft' || found === 'policy' || found === 'infrastructure')
      return { bounceClass: found, status, reason };
  }
  return null;
}

/** An unsubscribe link works forever, and so does a complaint that returns it. */
function decideComplaint({ claim, sentAt, now }: InboundActionInput): InboundAction {
  if (claim === 'message_id') return nothing('a complaint without a token');
  if (claim === 'bounce' && now - sentAt > TOKEN_KEPT_MS) return nothing('a complaint with an expired token');
  return { act: 'complaint' };
}

function decideWritten(input: InboundActionInput, kind: ReplyKind): InboundAction {
  if (input.mail.from === null) return nothing('it has no sender');
  const verified = signOf(input);
  if (verified === null) return nothing(UNPROVEN);
  const isHuman = kind === 'reply' && verified !== 'failed';
  return {
    act: 'keep',
    kind,
    verified,
    isReply: isHuman && verified !== 'token',
    forwards: isHuman,
  };
}

function signOf({ mail, claim, address, authentication }: InboundActionInput): ReplySign | null {
  const { dmarc, policy } = authentication ?? { dmarc: 'unknown', policy: 'none' };
  const from = mail.from === null ? '' : normaliseAddress(mail.from);
  if (claim === 'message_id') return from === address && dmarc === 'pass' ? 'reference' : null;
  if (dmarc === 'fail' && policy !== 'none') return 'failed';
  if (from === address) return 'recipient';
  return dmarc === 'pass' && isOfSameOrganization(from, address) ? 'domain' : 'token';
}

function isOfSameOrganization(address: string, other: string): boolean {
  const organization = organizationOf(domainPart(address));
  return organization === organizationOf(domainPart(other)) && !isPublicMailboxes(organization);
}

function nothing(why: string): InboundAction {
  return { act: 'nothing', why };
}

/** Hosts of public mailboxes, under one name or under one name for each country. */
const HOSTS = new Set(
  (
    'gmail.com googlemail.com msn.com passport.com ymail.com rocketmail.com aol.com aim.com verizon.net icloud.com me.com mac.com ' +
    'proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.com tuta.io fastmail.com fastmail.fm hey.com ' +
    'zoho.com zohomail.com zohomail.eu mail.com email.com usa.com gmx.com gmx.net gmx.de gmx.at gmx.ch web.de freenet.de t-online.de ' +
    'posteo.de mailbox.org arcor.de vodafone.de orange.fr wanadoo.fr free.fr laposte.net sfr.fr libero.it virgilio.it tiscali.it ' +
    'alice.it tim.it bluewin.ch ziggo.nl kpnmail.nl xs4all.nl telenet.be skynet.be seznam.cz email.cz centrum.cz wp.pl o2.pl ' +
    'onet.pl interia.pl mail.ru bk.ru inbox.ru list.ru yandex.ru yandex.com ya.ru rambler.ru ukr.net i.ua qq.com foxmail.com ' +
    '163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com naver.com daum.net hanmail.net nate.com docomo.ne.jp ezweb.ne.jp ' +
    'softbank.ne.jp rediffmail.com uol.com.br bol.com.br terra.com.br comcast.net att.net sbcglobal.net bellsouth.net cox.net ' +
    'charter.net btinternet.com sky.com talktalk.net virginmedia.com bigpond.com optusnet.com.au shaw.ca rogers.com sympatico.ca hushmail.com'
  ).split(' '),
);
const OF_MANY_COUNTRIES = /^(?:outlook|hotmail|live|yahoo)\./;

/**
 * Returns whether a shared domain means nothing, because the provider gives mailboxes to anyone. `domain`: the registered domain, without
 * subdomains.
 */
function isPublicMailboxes(domain: string): boolean {
  return HOSTS.has(domain) || OF_MANY_COUNTRIES.test(domain);
}
