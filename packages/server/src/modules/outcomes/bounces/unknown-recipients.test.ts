import { describe, expect, it } from 'vitest';
import { classifyReply } from './classify-reply.ts';
import { classifyReport } from '../../inbound/classification/classify-report.ts';

const STATUSES = ['5.0.0', '5.1.0', '5.1.1', '5.5.0'];
/** The classes of a refusal after RCPT, with each status that servers give to an unknown recipient. */
const classesAfterRcpt = (text: string): Set<string> =>
  new Set(
    STATUSES.flatMap((status) => [
      classifyReport({
        action: 'failed',
        status,
        category: null,
        texts: [`host mx.example.net[192.0.2.9] said: 550 ${text} (in reply to RCPT TO command)`],
      }).class,
      classifyReply({ stage: 'rcpt', code: 550, reply: `550 ${status} ${text}` }).class,
    ]),
  );

const OTHER_CAUSE: [string, string][] = [
  ['User unknown: your message looks like spam', 'policy'],
  ['Unknown user - SPF check failed', 'policy'],
  ['Invalid recipient, blocked by policy', 'policy'],
  ['Invalid recipient: message rejected by content filter', 'policy'],
  ['unknown user (sender)', 'policy'],
  ['No such user: sender not on the list', 'policy'],
  ['User not found, your domain fails DMARC', 'policy'],
  ['User unknown, poor reputation', 'policy'],
  ['Unknown recipient: client is listed in rbl.example.org', 'policy'],
  ['Message blocked by policy: user unknown', 'policy'],
  ['Unknown user, temporarily rejected as spam', 'policy'],
  ['Invalid recipient: temporarily unavailable', 'soft'],
  ['User unknown, temporary failure', 'soft'],
  ['No such user: try again later', 'soft'],
  ['User unknown: mailbox full', 'soft'],
  ['Address rejected (sender)', 'policy'],
  ['Address rejected: temporarily unavailable', 'soft'],
  ['Recipient address rejected: content filter', 'policy'],
  ['Recipient address rejected: try again later', 'soft'],
  ['Address rejected, unverified', 'policy'],
  ['Mailbox unavailable, temporary', 'soft'],
  ['inactive email address: blocked by policy', 'policy'],
  ['recipient no longer on server: content filter', 'policy'],
  ["Adresse d'envoi inconnue", 'policy'],
  ['Adresse rejetée : temporairement indisponible', 'soft'],
  ['Destinataire inconnu : politique de sécurité', 'policy'],
  ['Destinataire inconnu : expéditeur refusé', 'policy'],
  ['Utilisateur inconnu : contenu refusé', 'policy'],
  ['Utilisateur inconnu, message bloqué', 'policy'],
  ['Destinataire inconnu : temporairement indisponible', 'soft'],
  ['Empfänger unbekannt: Richtlinie verletzt', 'policy'],
  ['Benutzer unbekannt: vorübergehend nicht erreichbar', 'soft'],
  ['Usuario desconocido: política de seguridad', 'policy'],
  ['Utente sconosciuto: politica di sicurezza', 'policy'],
  ['Usuário desconhecido: política de segurança', 'policy'],
  ['Gebruiker onbekend: beveiligingsbeleid', 'policy'],
  ['宛先不明: セキュリティポリシー', 'policy'],
  ['المستخدم غير معروف: سياسة الأمان', 'policy'],
];

const NO_OTHER_CAUSE = [
  'User unknown',
  'Unknown user',
  'Unknown user: zoe@example.net',
  'Invalid recipient',
  'Invalid recipient <zoe@example.net>',
  'Address rejected',
  'No such user here',
  'recipient no longer on server',
  'inactive email address',
  'User unknown, returned to sender',
  'Unknown user; return to the sender',
  'User unknown: not listed in the directory',
  "User unknown, isn't listed in Domino directory",
  'No such user. Check the address for typos',
  'Unknown user, or the domain may be blacklisted',
  'Utilisateur inconnu',
  'Destinataire inconnu',
  'Adresse inconnue',
  'Adresse invalide',
  'Adresse rejetée',
  "Adresse d'au moins un destinataire invalide",
  "L'adresse n'existe pas",
  "Destinataire inconnu : retour à l'expéditeur",
  'Adresse e-mail inactive',
  "L'utilisateur n'est plus sur le serveur",
  'Benutzer unbekannt, zurück an den Absender',
  'Usuario desconocido: devuelto al remitente',
  'المرسل إليه غير موجود',
];

describe('classifyReport and classifyReply on an unknown recipient after RCPT', () => {
  it.each(OTHER_CAUSE)('follow another cause on the same line: "%s" is %s', (text, expected) => {
    expect(classesAfterRcpt(text)).toEqual(new Set([expected]));
  });

  it.each([
    'Adresse rejetée : politique de sécurité',
    'Adresse abgelehnt: Richtlinie',
    'Adres geweigerd: beleid',
  ])('do not return hard for a refusal with a reason: "%s"', (text) => {
    expect(classesAfterRcpt(text)).not.toContain('hard');
  });

  it.each(NO_OTHER_CAUSE)('return hard without another cause: "%s"', (text) => {
    expect(classesAfterRcpt(text)).toEqual(new Set(['hard']));
  });
});
