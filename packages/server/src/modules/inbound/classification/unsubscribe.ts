import type { InboundMail } from './mail.ts';
import type { MailEnvelope } from './classification.ts';

/** `u+…@`, as in the List-Unsubscribe of our emails. The caller verifies the token after it. */
const LOCAL_PART = /^(?:u[+]|(?:unsubscribe|unsub|optout|opt-out)(?:[+-][^@]*)?@)/;
const WORDS =
  /^(?:please |bitte )?(?:unsubscribe|un-subscribe|remove(?: me)?|opt[- ]?out|stop|abmelden|abmeldung|abbestellen|austragen|d[ée]sabonner|d[ée]sabonnement|d[ée]sinscription|darse de baja|cancelar (?:la )?suscripci[óo]n|annulla(?: l['’])? ?iscrizione|cancellami|disiscrivimi|descadastrar|cancelar inscri[çc][ãa]o|uitschrijven|afmelden|wypisz|avregistrera|avprenumerera|afmeld|отписаться|配信停止|退订)(?!\p{L})/iu;
const SUBJECT_CHARS_MAX = 100;

/** Detects the email that a mail program sends for a `mailto:` in List-Unsubscribe, and human emails that consist of such a word. */
export function isUnsubscribe(mail: InboundMail, envelope?: MailEnvelope): boolean {
  const subject = mail.subject.trim();
  return isToUnsubscribe(mail, envelope) || (subject.length <= SUBJECT_CHARS_MAX && WORDS.test(subject));
}

export function isToUnsubscribe(mail: InboundMail, envelope?: MailEnvelope): boolean {
  return [...(envelope?.to ?? []), ...mail.to].some((address) => LOCAL_PART.test(address.toLowerCase()));
}
