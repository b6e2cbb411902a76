import { describe, expect, it } from 'vitest';
import { classifyReport } from '../../inbound/classification/classify-report.ts';

type ReportFields = { status?: string; action?: string };

/** Takes the diagnostic and the local server's text around it. */
const classOf = (texts: string[], { status = '5.0.0', action = 'failed' }: ReportFields = {}): string =>
  classifyReport({ action, status, category: null, texts }).class;
const afterRcpt = (text: string): string =>
  `host mx.example.net[192.0.2.9] said: ${text} (in reply to RCPT TO command)`;
const afterData = (text: string): string =>
  `host mx.example.net[192.0.2.9] said: ${text} (in reply to end of DATA command)`;

const UNKNOWN_RECIPIENT = [
  '550 User unknown',
  '550 Unknown user: zoe@example.net',
  '550 <zoe@example.net>... No such user',
  '550 Invalid recipient <zoe@example.net>',
  '550 5.1.0 Address rejected',
  '550 5.1.0 Address rejected zoe@example.net',
  '554 5.1.0 <zoe@example.net>: Recipient address rejected',
  '550 recipient no longer on server: zoe@example.net',
  '550 5.1.1 Inactive email address',
  '550 5.1.1 The email address zoe@example.net is inactive',
  '550 No thank you rejected: Account Unavailable',
  '550 There is no one at this address',
  '553 5.5.0 sorry, badrcptto',
  '550 user missing home directory',
  '550 destination server rejected recipients',
];

const UNKNOWN_RECIPIENT_IN_OTHER_LANGUAGES = [
  '550 Utilisateur inconnu !',
  "550 5.1.1 Adresse d'au moins un destinataire invalide",
  "550 5.5.0 Cette adresse n'est plus valide",
  '550 Aucun compte pour ce nom',
  '550 Adresse e-mail inactive',
  '550 Benutzer unbekannt',
  '550 Kein solcher Empfänger',
  '550 Kein Postfach unter diesem Namen',
  '550 No existe ese usuario',
  '550 Ningún usuario con ese nombre',
  '550 nessun utente con questo nome',
  '550 Non esiste la casella',
  '550 Não existe o usuário',
  '550 Nenhum usuário com esse nome',
  '550 Geen dergelijke gebruiker',
  '550 Onbekend adres',
  '550 該当するユーザーはいません',
  '550 宛先のアカウントはありません',
];

describe('classifyReport', () => {
  it.each([...UNKNOWN_RECIPIENT, ...UNKNOWN_RECIPIENT_IN_OTHER_LANGUAGES])(
    'returns hard for "%s" with 5.0.0, 5.1.x or 5.5.0',
    (text) => {
      for (const status of ['5.0.0', '5.1.0', '5.1.1', '5.5.0']) {
        expect(classOf([afterRcpt(text)], { status }), `${status} after RCPT`).toBe('hard');
        expect(classOf([text], { status }), status).toBe('hard');
      }
    },
  );

  it('returns soft for an unknown user once the email was seen, and without a status', () => {
    expect(classOf([afterData('550 User unknown')])).toBe('soft');
    expect(classOf(['550 User unknown'], { status: '5.0.0 (SMTP transmission failure)' })).toBe('soft');
    expect(classOf(['550 User unknown'], { status: '' })).toBe('soft');
    expect(classOf(['550 User unknown'], { status: '5.0.0 (Remote SMTP server has rejected address)' })).toBe(
      'hard',
    );
  });

  it('returns soft for a temporary refusal of an unknown recipient', () => {
    expect(classOf([afterRcpt('450 4.1.1 User unknown')], { status: '4.1.1' })).toBe('soft');
    expect(classOf([afterRcpt('450 Inactive email address')], { status: '4.0.0' })).toBe('soft');
  });

  it.each([
    ['550 Sender address rejected: User unknown', 'policy'],
    ['553 5.1.8 <ada@example.com>: Sender address rejected: Domain not found', 'policy'],
    ['550 IP address rejected', 'policy'],
    ['550 Address rejected due to policy', 'policy'],
    ['550 Address rejected: mailbox full', 'soft'],
    ['550 Invalid recipient, quota exceeded', 'soft'],
    ['550 5.1.1 User unknown: mailbox full', 'soft'],
    ['550 This account is inactive', 'soft'],
    ['550 Temporarily inactive email address', 'soft'],
  ])('follows another cause on the same line: "%s" is %s', (text, expected) => {
    for (const status of ['5.0.0', '5.5.0']) expect(classOf([afterRcpt(text)], { status })).toBe(expected);
  });

  it.each([
    '553 http://www.example.org/query/bl?ip=192.0.2.7',
    '554 https://dnsbl.example.org/192.0.2.7',
    '550 see https://www.example.org/lookup.php?x=1&ip=192.0.2.7',
    '550 https://help.example.org/1234',
    '550 Denied due to listing',
  ])("does not let the local server's words outrank the remote answer: %s", (reply) => {
    const local = ['<zoe@example.net> (reason: refused)', '550 5.1.1 <zoe@example.net>... User unknown'];
    expect(classOf([reply, ...local], { status: '5.1.1' })).toBe('policy');
    expect(classOf([local[1] ?? '', `<<< ${reply}`], { status: '5.1.1' })).toBe('policy');
  });

  it.each([
    ['553 Go away, you are in my list', 'soft'],
    ['550 Rejected: your country', 'soft'],
    ['554 5.5.0 Nope', 'soft'],
    ['550 5.0.0 <zoe@example.net> We know you', 'soft'],
    ['550 Wij willen dit niet', 'soft'],
    ['550 http://www.example.org/why?ip=192.0.2.7', 'policy'],
    ['553 5.3.0 http://www.example.org/query/bl?ip=192.0.2.7', 'policy'],
    ['550 5.7.1 Go away', 'policy'],
    ['450 Come back later', 'soft'],
  ])(
    'does not let local words or a local status decide where the cause is unknown: "%s" is %s',
    (text, expected) => {
      const local = '550 5.1.1 <zoe@example.net>... User unknown';
      const forms = [
        [text, local],
        [`smtp; ${text}`, local],
        [`SMTP;${text}`],
        [local, `<<< ${text}`],
        [local, afterRcpt(text)],
        [local, `(reason: ${text})`],
        [`<<< ${text}\n${local}`],
        [`<zoe@example.net> (reason: ${text}) ${local}`],
      ];
      for (const texts of forms)
        expect(classOf(texts, { status: '5.1.1' }), texts.join(' | ')).toBe(expected);
    },
  );

  it('returns policy for an answer of unknown cause to the email itself', () => {
    expect(classOf([afterData('554 Go away'), '550 5.1.1 User unknown'], { status: '5.1.1' })).toBe('policy');
  });

  it('returns hard where the remote answer gives no other cause', () => {
    const local = '550 5.1.1 <zoe@example.net>... User unknown';
    expect(classOf(['550 zoe@example.net', local], { status: '5.1.1' })).toBe('hard');
    expect(classOf(['550 5.1.1 User unknown https://help.example.org/bl?ip=192.0.2.7', local])).toBe('hard');
    expect(classOf([`<<< 550 No such user`, local], { status: '5.1.1' })).toBe('hard');
    expect(classOf(['<<< 550 5.1.0 Nope', local], { status: '5.1.1' })).toBe('hard');
    expect(classOf(['<<< 550 <zoe@example.net> 192.0.2.7', local], { status: '5.1.1' })).toBe('hard');
    expect(classOf(['550 Address rejected', local], { status: '5.1.1' })).toBe('hard');
  });

  it.each([
    'procmail: Couldn\'t create "/var/mail/zoe": No such user',
    '553 5.5.0 unable to create temporary file in /home/zoe/Maildir: no such user',
    "mail.local: can't open /var/mail/zoe: unknown user",
    'maildrop: Unable to open mailbox.',
    '550 5.1.1 deliver: cannot write to folder INBOX: user unknown',
    'deliver: mailbox /var/mail/zoe: cannot create: No such user',
    'mailbox /var/mail/zoe could not be opened: unknown user',
    'local: /home/zoe/Maildir: failed to create: no such user',
    '/usr/bin/procmail: No such user',
    '"|/usr/bin/procmail -a zoe": user unknown',
    'procmail: Unknown user "zoe"',
    'maildrop: user not found',
    '550 5.1.1 deliver: user unknown',
    'mail.local: /var/mail/zoe: No such user',
    '/home/zoe/Maildir/new: user unknown',
    'Error writing to mailbox: no such user',
    'Error while opening /var/mail/zoe: unknown user',
    'Mailbox write error: no such user',
    'local delivery failed: no such user',
    'mkdir /var/mail/zoe failed: no such user',
    'delivery to /home/zoe/Maildir failed: No such user',
  ])('returns infrastructure for a failed local delivery: %s', (text) => {
    for (const status of ['5.0.0', '5.1.1', '5.3.0']) {
      expect(classOf([text], { status })).toBe('infrastructure');
      expect(classOf(['550 5.1.1 <zoe@example.net>... User unknown', text], { status })).toBe(
        'infrastructure',
      );
    }
  });

  it.each([
    'User unknown in local recipient table /etc/postfix/users',
    '/o=Example/ou=Site/cn=Recipients/cn=zoe: user unknown',
    'https://help.example.net/unknown/user no such user',
    'Unable to deliver: no such user',
    'Error delivering to mailbox: no such user',
  ])('returns hard for an unknown user without a failed local delivery: %s', (text) => {
    expect(classOf([afterRcpt(`550 5.1.1 ${text}`)], { status: '5.1.1' })).toBe('hard');
  });

  it('returns soft for a local delivery that found the mailbox full', () => {
    expect(classOf(['procmail: Quota exceeded while writing "/var/mail/zoe"'])).toBe('soft');
  });

  it.each([
    '550 You cannot send E-Mail to yourself',
    '550 5.1.1 Sorry, you are not allowed to send messages to yourself',
  ])('returns policy for "%s"', (text) => {
    expect(classOf([afterRcpt(text)], { status: '5.1.1' })).toBe('policy');
  });

  it('keeps a delayed report open, and counts relayed and expanded ones as delivered', () => {
    const classification = (action: string) =>
      classifyReport({ action, status: '5.1.1', category: null, texts: ['550 User unknown'] });
    expect(classification('delayed')).toMatchObject({ class: 'hard', final: false });
    for (const action of ['relayed', 'expanded', 'delivered'])
      expect(classification(action)).toMatchObject({ class: 'delivered', final: true });
  });
});
