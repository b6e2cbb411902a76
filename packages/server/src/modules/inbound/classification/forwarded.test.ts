import { describe, expect, it } from 'vitest';
import { classifyMail } from './classify-mail.ts';
import { isOnlyTitledAuto } from './auto-reply.ts';
import type { MailClassification } from './classification.ts';
import { readMail } from './read-mail.ts';

const ENVELOPE = { from: 'zoe@example.net', to: ['r+token@in.example.com'] };
const classify = async (lines: string[]): Promise<MailClassification> =>
  classifyMail(await readMail(Buffer.from(lines.join('\r\n'))), ENVELOPE);

const encoded = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
const fromZoe = (subject: string, ...body: string[]): string[] => [
  'From: Zoe <zoe@example.net>',
  'To: r+token@in.example.com',
  `Subject: ${encoded(subject)}`,
  'Content-Type: text/plain; charset=utf-8',
  '',
  ...body,
];

/** The subject of a report that was forwarded, in the words of Exchange, Gmail and others. */
const TITLES: Record<string, string[]> = {
  en: [
    'Fwd: Delivery Status Notification (Failure)',
    'Fwd: Warning: message delayed 24 hours',
    'FW: Warning: message 1abCde-000001-Xy delayed 24 hours',
    'FW: Undeliverable: Hello',
    'RE: FW: Undeliverable: Hello',
    'Fwd: Mail delivery failed: returning message to sender',
    'Fwd: Returned mail: see transcript for details',
    'Fwd: failure notice',
    'Fwd: Delivery delayed: Hello',
    '[Fwd: Undelivered Mail Returned to Sender]',
    "Fwd: Your message to max@example.org couldn't be delivered",
    'Fwd: Mail could not be delivered',
    'Fwd: The message could not be delivered',
    'FW: Email to max@example.org was not delivered',
    'Fwd: Message has not yet been delivered',
    'Fwd: Mail cannot be delivered',
    'Fwd: Nondeliverable mail',
  ],
  de: [
    'WG: Unzustellbar: Hallo',
    'AW: WG: Unzustellbar: Hallo',
    'WG: Nicht zustellbar: Hallo',
    'WG: Übermittlung verzögert: Hallo',
    'Wtrlt: Benachrichtigung über Zustellungsstatus',
    'WG: Fehler bei der Nachrichtenzustellung',
    'Fwd: Nachricht wurde nicht zugestellt',
  ],
  fr: [
    'TR: Non remis : Bonjour',
    'TR\u00a0: Non remis\u00a0: Bonjour',
    'TR: Échec de remise : Bonjour',
    'TR : Remise retardée : Bonjour',
    "Fwd: Notification d'état de remise (échec)",
    "Fwd: Votre message n'a pas été remis",
  ],
  es: [
    'RV: No se puede entregar: Hola',
    'RV: No entregado: Hola',
    'RV: Entrega retrasada: Hola',
    'Fwd: Notificación de estado de entrega (error)',
    'RV: Correo devuelto',
  ],
  pt: [
    'ENC: Não é possível entregar: Olá',
    'ENC: Não entregue: Olá',
    'ENC: Falha na entrega',
    'ENC: Entrega atrasada: Olá',
    'Fwd: Notificação de status de entrega (falha)',
  ],
  it: [
    'I: Recapito non riuscito: Ciao',
    'I: Non recapitabile: Ciao',
    'I: Recapito ritardato: Ciao',
    'Fwd: Notifica di mancato recapito',
    'I: Impossibile recapitare: Ciao',
  ],
  nl: [
    'FW: Onbestelbaar: Hallo',
    'Doorst: Niet bezorgd: Hallo',
    'FW: Bezorging vertraagd: Hallo',
    'Fwd: Melding over de bezorgingsstatus (mislukt)',
  ],
  ja: [
    'FW: 配信不能: こんにちは',
    '転送: 配信の遅延: こんにちは',
    'Fwd: 配信状態通知(失敗)',
    'FW: メールを配信できませんでした',
  ],
  ar: [
    'Fw: تعذر التسليم: مرحبا',
    'إعادة توجيه: لم يتم التسليم: مرحبا',
    'إعادة توجيه: \u200fتأخر التسليم: مرحبا',
    'Fwd: إشعار حالة التسليم (فشل)',
  ],
  pl: ['PD: Niedostarczone: Witaj', 'Fwd: Nie można dostarczyć: Witaj'],
  ru: ['Fwd: Недоставленное: Привет', 'Fwd: Сообщение не доставлено', 'FW: Доставка отложена: Привет'],
  tr: ['İLT: Teslim edilemedi: Merhaba', 'Fwd: Teslimat durumu bildirimi'],
};

/** The copied header names the mail system; the notice below is in the language of the mailbox. */
const COPIES: Record<string, [string, string]> = {
  de: [
    'Von',
    'Ihre Nachricht wurde nicht an max@example.org zugestellt, weil die Adresse nicht gefunden wurde.',
  ],
  fr: ['De', "Votre message n'a pas été remis à max@example.org, car l'adresse est introuvable."],
  es: ['De', 'Tu mensaje no se ha entregado a max@example.org porque no se ha encontrado la dirección.'],
  pt: ['De', 'Sua mensagem não foi entregue a max@example.org porque o endereço não foi encontrado.'],
  it: ['Da', "Il messaggio non è stato recapitato a max@example.org perché l'indirizzo non esiste."],
  nl: ['Van', 'Je bericht is niet bezorgd bij max@example.org omdat het adres niet kan worden gevonden.'],
  ja: ['差出人', 'アドレスが見つからないため、max@example.org にメールを配信できませんでした。'],
  ar: ['من', 'لم يتم تسليم رسالتك إلى max@example.org لأنه تعذر العثور على العنوان.'],
  pl: ['Od', 'Wiadomość nie została dostarczona na adres max@example.org.'],
  ru: ['От', 'Сообщение не доставлено: адрес max@example.org не найден.'],
  tr: ['Kimden', 'İletiniz max@example.org adresine teslim edilmedi.'],
};

const AUTHORS = [
  'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
  'postmaster@example.org',
  'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@example.org>',
  'Microsoft Outlook',
];

const REPORT = [
  'From: MAILER-DAEMON@mx.example.org (Mail Delivery System)',
  'Subject: Undelivered Mail Returned to Sender',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=C',
  '',
  '--C',
  '',
  'The address does not exist.',
  '--C--',
];
const FROM_EXCHANGE = [
  'From: Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@example.org>',
  'Subject: Unzustellbar: Hallo',
  'Content-Type: multipart/mixed; boundary=C',
  '',
  'Hallo',
];
const AUTOMATIC = [
  'Return-Path: <>',
  'From: Mailsystem <info@example.org>',
  `Subject: ${encoded('配信不能: こんにちは')}`,
  '',
  'x',
];

const attached = (type: string, content: string[], encoding = '7bit'): string[] => {
  const bytes = Buffer.from(content.join('\r\n'));
  return [
    'From: Zoe <zoe@example.net>',
    'Subject: Problem',
    'Content-Type: multipart/mixed; boundary=B',
    '',
    '--B',
    'Content-Type: text/plain',
    '',
    'See the attachment.',
    '--B',
    `Content-Type: ${type}`,
    'Content-Disposition: attachment',
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    ...(encoding === 'base64' ? [bytes.toString('base64')] : content),
    '--B--',
    '',
  ];
};

const titles = Object.entries(TITLES).flatMap(([language, all]) =>
  all.map((title): [string, string] => [language, title]),
);

describe('classifyMail on a forwarded report', () => {
  it.each(titles)('needs only its title (%s): %s', async (_language, title) => {
    const lines = fromZoe(title, 'FYI');
    expect((await classify(lines)).kind).toBe('auto_reply');
    const mail = await readMail(Buffer.from(lines.join('\r\n')));
    expect(isOnlyTitledAuto(mail, { ...ENVELOPE, subject: 'Welcome' })).toBe(false);
  });

  it.each(Object.entries(COPIES))(
    'finds the mail system in a copied header (%s)',
    async (_language, copy) => {
      const [field, notice] = copy;
      for (const author of AUTHORS) {
        const lines = fromZoe('Re: Welcome', 'FYI', '', `${field}: ${author}`, notice);
        expect((await classify(lines)).kind, author).toBe('auto_reply');
      }
    },
  );

  it.each([
    ['application/octet-stream; name="Undeliverable.eml"', REPORT],
    ['application/octet-stream', REPORT],
    ['text/plain; name="bounce.txt"', REPORT],
    ['message/rfc822', FROM_EXCHANGE],
    ['application/octet-stream; name="Unzustellbar.eml"', FROM_EXCHANGE],
    ['application/octet-stream; name="a.eml"', AUTOMATIC],
    [
      'application/octet-stream; name="a.eml"',
      ['From mailer@example.org Tue Mar  3 10:00:00 2026', ...REPORT],
    ],
  ])('classifies an attachment of the type %s by its bytes', async (type, content) => {
    for (const encoding of ['7bit', 'base64'])
      expect((await classify(attached(type, content, encoding))).kind, encoding).toBe('auto_reply');
  });

  it.each([
    fromZoe('Fwd: Zustellung Ihres Pakets verzögert sich', 'Wo ist es?'),
    fromZoe('Fwd: Delivery delayed: your order 12', 'Where is it?'),
    fromZoe('ENC: Entrega atrasada do pedido 12', 'Onde está?'),
    fromZoe('TR: Échec de paiement', "Je n'ai pas pu payer."),
    fromZoe('RV: No se puede iniciar sesión', 'No se puede entrar.'),
    fromZoe('WG: Rechnung', 'Die Datei konnte nicht geöffnet werden.'),
    fromZoe('Fwd: Your message to support', 'Any news?'),
    fromZoe('Fwd: Your order could not be delivered', 'Where is it?'),
    fromZoe('Re: Mail could not be delivered?', 'What does this setting do?'),
    fromZoe('Re: Undeliverable addresses', 'How do you handle them?'),
    fromZoe('Undeliverable: what does it mean?', 'Please explain.'),
    fromZoe('Re: Welcome', 'Our postmaster asks whether the mailer-daemon is yours.'),
    fromZoe('Re: Welcome', 'I asked Mail Delivery System Ltd, and they agreed.'),
    attached('text/plain; name="notes.txt"', ['Note: call Max', 'From: Berlin']),
    attached('message/rfc822', ['From: Max <max@example.org>', 'Subject: Hello', '', 'Hi']),
    attached('message/rfc822', [
      'From: Acme <hello@example.com>',
      'Subject: Delivery failed: Hello',
      '',
      'Hi',
    ]),
  ])('takes an email written or forwarded by a human for a reply: %#', async (...lines) => {
    expect((await classify(lines)).kind).toBe('reply');
  });

  it("takes a postmaster's answer to their own email for a human reply", async () => {
    const lines = fromZoe('Re: Welcome', 'Yes.', '', 'From: postmaster@example.org', '> Is it free?');
    const text = lines.join('\r\n').replace('Zoe <zoe@example.net>', 'Zoe <postmaster@example.org>');
    expect((await classify(text.split('\r\n'))).kind).toBe('reply');
  });

  it('accepts our own email forwarded by a human, although its title is that of a report', async () => {
    const mail = await readMail(Buffer.from(fromZoe('WG: Unzustellbar: Hallo', 'FYI').join('\r\n')));
    expect(isOnlyTitledAuto(mail, { ...ENVELOPE, subject: 'Unzustellbar: Hallo' })).toBe(true);
  });
});

const AWAY: Record<string, string[]> = {
  en: ['Automatic reply: Welcome', 'Out of office: Welcome'],
  de: ['Automatische Antwort: Willkommen', 'Abwesenheitsnotiz: Willkommen', 'Automatische Rückmeldung'],
  fr: ['Réponse automatique : Bienvenue', "Message d'absence", 'Message automatique', 'Absence du bureau'],
  es: ['Respuesta automática: Bienvenida', 'Fuera de la oficina: Hola', 'Mensaje automático'],
  pt: ['Resposta automática: Olá', 'Fora do escritório', 'Mensagem automática'],
  it: ['Risposta automatica: Ciao', 'Fuori sede', "Fuori dall'ufficio", 'Messaggio automatico'],
  nl: ['Automatisch antwoord: Hallo', 'Afwezig: Hallo', 'Niet op kantoor', 'Met vakantie', 'Op vakantie'],
  ja: ['自動応答: こんにちは', '自動返信', '不在通知', '休暇のお知らせ'],
  ar: ['رد تلقائي: مرحبا', 'رد آلي', 'الرد التلقائي', '\u200fخارج المكتب', 'إجازة', 'رد: خارج المكتب'],
};
const away = Object.entries(AWAY).flatMap(([language, all]) =>
  all.map((title): [string, string] => [language, title]),
);

describe('classifyMail on an absence notice', () => {
  it.each(away)('recognizes its title (%s): %s', async (_language, title) => {
    expect((await classify(fromZoe(title, 'x'))).kind).toBe('auto_reply');
  });
});

/** A report of the mail system itself, without the standard form. */
const NOTICES: Record<string, [string, string]> = {
  en: [
    'Your message could not be delivered.',
    'Your message has not yet been delivered. We will keep trying.',
  ],
  de: ['Ihre Nachricht konnte nicht zugestellt werden.', 'Die Zustellung Ihrer Nachricht ist verzögert.'],
  fr: ["Votre message n'a pas pu être remis.", "Votre message n'a pas encore été remis."],
  es: ['Su mensaje no se pudo entregar.', 'Su mensaje aún no se ha entregado.'],
  pt: ['A sua mensagem não pôde ser entregue.', 'A sua mensagem ainda não foi entregue.'],
  it: ['Il messaggio non può essere recapitato.', 'Il messaggio non è ancora stato recapitato.'],
  nl: ['Uw bericht kon niet worden bezorgd.', 'De bezorging van uw bericht is vertraagd.'],
  ja: ['メールを配信できませんでした。', 'メールの配信が遅れています。再試行します。'],
  ar: ['لم يتم تسليم رسالتك.', 'تأخر تسليم رسالتك وسيتم إعادة المحاولة.'],
};

describe('classifyMail on a report without the standard form', () => {
  it.each(Object.entries(NOTICES))(
    'distinguishes a failure from a delay (%s)',
    async (_language, notices) => {
      const classificationOf = (notice: string): Promise<MailClassification> =>
        classify([
          'From: Mail Delivery System <mailer-daemon@example.org>',
          'Subject: x',
          'Content-Type: text/plain; charset=utf-8',
          '',
          notice,
          '',
          '<max@example.org>',
        ]);
      const [failed, delayed] = notices;
      expect(await classificationOf(failed)).toMatchObject({ kind: 'dsn', recipients: [{ final: true }] });
      expect(await classificationOf(delayed)).toMatchObject({ kind: 'dsn', recipients: [{ final: false }] });
    },
  );
});
