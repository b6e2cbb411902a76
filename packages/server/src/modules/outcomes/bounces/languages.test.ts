import { describe, expect, it } from 'vitest';
import { classifyReport } from '../../inbound/classification/classify-report.ts';

const STATUSES = ['5.0.0', '5.1.0', '5.5.0'];
/** Returns the classes with each status that a server gives to a refused recipient. */
const classesAfterRcpt = (text: string): Set<string> =>
  new Set(
    STATUSES.map((status) => {
      const texts = [`host mx.example.net[192.0.2.9] said: 550 ${text} (in reply to RCPT TO command)`];
      return classifyReport({ action: 'failed', status, category: null, texts }).class;
    }),
  );

const HARD: Record<string, string[]> = {
  en: [
    'email address inactive',
    'The recipient address zoe@example.net is inactive',
    'This e-mail address is not active',
    'This email address is no longer active',
  ],
  de: [
    'Adresse abgelehnt',
    'Empfänger abgewiesen',
    'Empfängeradresse wurde zurückgewiesen',
    'Diese E-Mail-Adresse ist nicht mehr aktiv',
    'Inaktive E-Mail-Adresse',
    'Der Benutzer ist nicht mehr auf diesem Server',
  ],
  fr: [
    'Adresse rejetée',
    'Adresse refusée',
    'Adresse du destinataire refusée',
    'Destinataire rejeté',
    'Adresse électronique inactive',
    "L'utilisateur n'est plus sur le serveur",
    "Cette adresse e-mail n'est plus active",
  ],
  es: [
    'Dirección rechazada',
    'Destinatario rechazado',
    'Dirección de correo inactiva',
    'Esta dirección ya no está activa',
    'El usuario ya no está en este servidor',
  ],
  pt: [
    'Endereço rejeitado',
    'Destinatário recusado',
    'Endereço de e-mail inativo',
    'Este endereço não está mais ativo',
    'O usuário não está mais neste servidor',
  ],
  it: [
    'Indirizzo rifiutato',
    'Destinatario respinto',
    'Indirizzo email inattivo',
    'Questo indirizzo non è più attivo',
    "L'utente non è più presente sul server",
  ],
  nl: [
    'Adres geweigerd',
    'Ontvanger afgewezen',
    'E-mailadres is inactief',
    'Dit adres is niet meer actief',
    'De gebruiker is niet meer op deze server',
  ],
  ja: ['宛先が拒否されました', 'このメールアドレスは使用されていません', 'ユーザーが存在しません'],
  ar: [
    'المستخدم غير معروف',
    'لا يوجد مستخدم بهذا الاسم',
    'المرسل إليه غير موجود',
    'العنوان مرفوض',
    'تم رفض المستلم',
    'عنوان البريد الإلكتروني غير نشط',
  ],
};

const SENDER_REFUSED: Record<string, string[]> = {
  en: [
    'Invalid recipient: sender not authorized',
    'reverse address rejected: user unknown',
    'Reverse-path rejected: unknown user',
    'Return address rejected: user unknown',
    'Unknown return path: user not found',
  ],
  de: [
    'Absender unbekannt',
    'Unbekannter Absender',
    'Absenderadresse abgelehnt: Benutzer unbekannt',
    'Adresse des Absenders nicht gefunden',
  ],
  fr: [
    'Adresse expéditeur inconnue',
    "Adresse de l'expéditeur rejetée",
    'Expéditeur inconnu',
    "L'adresse de l'expéditeur n'existe pas",
    'Destinataire invalide : expéditeur non autorisé',
    'Émetteur refusé',
  ],
  es: ['Remitente desconocido', 'Dirección del remitente rechazada', 'El remitente no existe'],
  pt: ['Remetente desconhecido', 'Endereço do remetente rejeitado', 'O remetente não existe'],
  it: ['Mittente sconosciuto', 'Indirizzo del mittente rifiutato', 'Il mittente non esiste'],
  nl: ['Afzender onbekend', 'Onbekende afzender', 'Afzenderadres geweigerd', 'De afzender bestaat niet'],
  ja: ['送信者が不明です', '差出人アドレスが拒否されました', '送信元アドレスが存在しません'],
  ar: ['المرسل غير معروف', 'عنوان المرسل مرفوض', 'غير مسموح للمرسل: المرسل غير مصرح له'],
  pl: ['Nieznany nadawca', 'Adres nadawcy odrzucony: nieznany użytkownik'],
  ru: ['Отправитель неизвестен', 'Адрес отправителя не существует'],
  tr: ['Gönderen adresi geçersiz', 'Bilinmeyen gönderen'],
};

/** The report says that it goes back to the sender, and then that the recipient is unknown. */
const RETURNED_TO_SENDER: Record<string, string> = {
  en: 'Returned to sender: user does not exist',
  de: 'Zurück an Absender: Benutzer unbekannt',
  fr: "Retourné à l'expéditeur : utilisateur inconnu",
  es: 'Devuelto al remitente: usuario desconocido',
  pt: 'Devolvido ao remetente: usuário desconhecido',
  it: 'Restituito al mittente: utente sconosciuto',
  nl: 'Retour afzender: gebruiker onbekend',
  ja: '送信者に返送しました。宛先不明',
  ar: 'أعيد إلى المرسل: المستخدم غير معروف',
};

const OTHER_CAUSE: [string, string][] = [
  ['Adresse rejetée : boîte pleine', 'soft'],
  ['Adresse temporairement inactive', 'soft'],
  ['The email address is currently inactive', 'soft'],
  ['Vom Empfänger abgelehnt', 'soft'],
  ['Rechazado por el destinatario', 'soft'],
  ['صندوق البريد ممتلئ', 'soft'],
  ['حساب المستخدم موقوف', 'soft'],
  ['Account geblokkeerd', 'soft'],
  ['IP-Adresse abgelehnt', 'soft'],
  ['Adresse IP rejetée', 'soft'],
  ['Unerwünschte Nachricht', 'policy'],
  ['Ongewenste e-mail', 'policy'],
  ['Posta indesiderata', 'policy'],
  ['بريد عشوائي', 'policy'],
];

const cases = (texts: Record<string, string[]>): [string, string][] =>
  Object.entries(texts).flatMap(([language, all]) => all.map((text): [string, string] => [language, text]));

describe('classifyReport in other languages', () => {
  it.each(cases(HARD))('returns hard for a refused recipient (%s): %s', (_language, text) => {
    expect(classesAfterRcpt(text)).toEqual(new Set(['hard']));
  });

  it.each(cases(SENDER_REFUSED))('returns policy for a refused sender (%s): %s', (_language, text) => {
    expect(classesAfterRcpt(text)).toEqual(new Set(['policy']));
  });

  it.each(Object.entries(RETURNED_TO_SENDER))(
    'returns hard for an unknown recipient of an email that goes back to the sender (%s): %s',
    (_language, text) => {
      expect(classesAfterRcpt(text)).toEqual(new Set(['hard']));
    },
  );

  it.each(OTHER_CAUSE)('follows another cause on the same line: "%s" is %s', (text, expected) => {
    expect(classesAfterRcpt(text)).toEqual(new Set([expected]));
  });
});
