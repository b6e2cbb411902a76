import { isAutoReply, submittedAs } from './auto-reply.ts';
import type { InboundEnvelope, MailRecipient, MailClassification } from './classification.ts';
import { classifyReport } from './classify-report.ts';
import {
  type DeliveryStatus,
  findDeliveryStatus,
  readDeliveryStatus,
  readFeedback,
  type StatusOfRecipient,
} from './standard-reports.ts';
import { firstOf, type InboundMail, messageIdsIn } from './mail.ts';
import { type FreeReport, isFreeBounce, readFreeReport } from './free-text.ts';
import { readReturned, type Returned } from './returned.ts';
import { readSesNotification, type SesNotification } from './ses-notification.ts';

const REASON_CHARS_MAX = 500;

/**
 * Checks for a DSN, then a complaint, an automatic reply, an unsubscribe by email, and a reply. The order matters: a bounce of Postfix
 * marks itself as an automatic reply.
 */
export function classifyMail(mail: InboundMail, envelope?: InboundEnvelope): MailClassification {
  const notification = readSesNotification(mail);
  const returned = notification
    ? { fields: notification.headers, notice: '', report: '' }
    : readReturned(mail);
  const found =
    (notification && asNotification(notification)) ??
    asDeliveryStatus(mail, returned) ??
    asComplaint(mail, returned) ??
    asFreeBounce(mail, returned, envelope);
  return {
    recipients: [],
    envelopeId: null,
    feedbackType: null,
    ...(found ?? asEmail(mail, envelope)),
    originalMessageId: messageIdsIn(firstOf(returned.fields, 'message-id') ?? '', 1)[0] ?? null,
    originalHeaders: returned.fields,
  };
}

type Found = Pick<MailClassification, 'kind'> & Partial<MailClassification>;

function asNotification({ type, recipients }: SesNotification): Found {
  if (type === 'Complaint')
    return complaint(
      'abuse',
      recipients.map(({ address }) => address),
    );
  const action = { Bounce: 'failed', DeliveryDelay: 'delayed' }[type] ?? 'delivered';
  const classified = recipients.map((recipient) =>
    toRecipient({ ...recipient, action: recipient.action ?? action, category: null }, []),
  );
  return { kind: 'dsn', recipients: classified };
}

function asDeliveryStatus(mail: InboundMail, returned: Returned): Found | null {
  const report = readDeliveryStatus(mail);
  return report && fromReport(report, readFreeReport(mail, returned));
}

/** The report takes precedence. The email around it supplements it, and names recipients that the report does not. */
function fromReport(report: DeliveryStatus, free: FreeReport): Found {
  const [only] = report.recipients.length === 1 ? free.recipients : [];
  const recipients = report.recipients.map((recipient) => {
    const freeRecipient =
      free.recipients.find(({ address }) => address !== null && address === recipient.address) ?? only;
    return toRecipient(
      { ...recipient, address: recipient.address ?? freeRecipient?.address ?? null },
      freeRecipient?.texts ?? [],
    );
  });
  return { kind: 'dsn', recipients, envelopeId: report.envelopeId };
}

function asComplaint(mail: InboundMail, returned: Returned): Found | null {
  const feedback = readFeedback(mail, returned.fields);
  if (!feedback) return null;
  if (!feedback.isComplaint) return { kind: 'other', feedbackType: feedback.type };
  return complaint(feedback.type, feedback.addresses.length > 0 ? feedback.addresses : [null]);
}

function complaint(type: string, addresses: (string | null)[]): Found {
  const recipients = addresses.map((address) => ({
    address,
    class: 'complaint' as const,
    final: true,
    status: null,
    reason: `complaint: ${type}`,
  }));
  return { kind: 'complaint', recipients, feedbackType: type };
}

function asFreeBounce(mail: InboundMail, returned: Returned, envelope?: InboundEnvelope): Found | null {
  if (!isFreeBounce(mail, returned, envelope)) return null;
  const free = readFreeReport(mail, returned);
  const report = findDeliveryStatus(returned.notice) ?? findDeliveryStatus(returned.report);
  if (report) return fromReport(report, free);
  const { delayed, category, recipients } = free;
  const action = delayed ? 'delayed' : 'failed';
  return {
    kind: 'dsn',
    recipients: recipients.map(({ address, texts }) =>
      toRecipient({ address, action, status: null, diagnostic: '', category }, texts),
    ),
  };
}

function toRecipient(
  { address, action, status, diagnostic, category }: StatusOfRecipient,
  extraTexts: string[],
): MailRecipient {
  const texts = [diagnostic, ...extraTexts].filter((text) => text !== '');
  const classification = classifyReport({ action, status, category, texts });
  return { address, ...classification, reason: singleLine(texts[0] ?? status ?? '') };
}

function asEmail(mail: InboundMail, envelope?: InboundEnvelope): Found {
  const atWill = isToUnsubscribe(mail, envelope) && submittedAs(mail) === 'auto-generated';
  if (isAutoReply(mail, envelope) && !atWill)
    return {
      kind: 'auto_reply',
      recipients: [
        {
          address: mail.from,
          class: 'auto_reply',
          final: true,
          status: null,
          reason: singleLine(mail.subject),
        },
      ],
    };
  if (isUnsubscribe(mail, envelope)) return { kind: 'unsubscribe' };
  return { kind: mail.from === null ? 'other' : 'reply' };
}

function singleLine(text: string): string {
  return text
    .slice(0, REASON_CHARS_MAX * 4)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, REASON_CHARS_MAX);
}

/** `u+…@`, as in the List-Unsubscribe of our emails. The caller verifies the token after it. */
const LOCAL_PART = /^(?:u[+]|(?:unsubscribe|unsub|optout|opt-out)(?:[+-][^@]*)?@)/;
const WORDS =
  /^(?:please |bitte )?(?:unsubscribe|un-subscribe|remove(?: me)?|opt[- ]?out|stop|abmelden|abmeldung|abbestellen|austragen|d[ée]sabonner|d[ée]sabonnement|d[ée]sinscription|darse de baja|cancelar (?:la )?suscripci[óo]n|annulla(?: l['’])? ?iscrizione|cancellami|disiscrivimi|descadastrar|cancelar inscri[çc][ãa]o|uitschrijven|afmelden|wypisz|avregistrera|avprenumerera|afmeld|отписаться|配信停止|退订)(?!\p{L})/iu;
const SUBJECT_CHARS_MAX = 100;

/** Detects the email that a mail program sends for a `mailto:` in List-Unsubscribe, and human emails that consist of such a word. */
function isUnsubscribe(mail: InboundMail, envelope?: InboundEnvelope): boolean {
  const subject = mail.subject.trim();
  return isToUnsubscribe(mail, envelope) || (subject.length <= SUBJECT_CHARS_MAX && WORDS.test(subject));
}

function isToUnsubscribe(mail: InboundMail, envelope?: InboundEnvelope): boolean {
  return [...(envelope?.to ?? []), ...mail.to].some((address) => LOCAL_PART.test(address.toLowerCase()));
}
