/**
 * The introductions of a quotation in the mail programs of a dozen languages. All patterns are tested on one line of at most 2,000
 * characters.
 */
const WROTE =
  'wrote|writes|schrieb|geschrieben|a [ée]crit|escribi[óo]|ha scritto|scrisse|schreef|geschreven|escreveu|napisa[łl]\\(?a?\\)?|pisze|skrev|kirjoitti|napsala?|написала?|пишет|пише|написав|yazdı|写道|寫道|のメール|さんは書きました|작성';

const OPENS =
  /^\s{0,3}(?:on|am|le|el|il|op|em|w dniu|dnia|den|ma|dne|в|за|on the|\d{1,4}[-./年]|\p{L}{2,10}[.,]|在|于|"?[^\s<>]{1,60}(?: [^\s<>]{1,60}){0,5} <[^<>\s]{3,200}>|.{1,120}(?:schrieb am|wrote on|skrev den|написала? ))/iu;
const CLOSES = new RegExp(
  String.raw`(?:(?:^|[\s)>,.\d])(?:${WROTE})(?![\p{L}])[^:：]{0,160}[:：]|<[^<>\s]{1,200}@[^<>\s]{1,200}>[:：]|(?:写道|寫道|작성)[:：]?)\s{0,3}$`,
  'iu',
);

export function opensAttribution(line: string): boolean {
  return OPENS.test(line);
}

/** Returns whether a line ends with a colon after a word for writing, or after an address. */
export function closesAttribution(line: string): boolean {
  return line.length <= ATTRIBUTION_CHARS_MAX && CLOSES.test(line);
}

const ATTRIBUTION_CHARS_MAX = 400;

const SEPARATOR =
  /^\s{0,3}(?:[-_=*]{2,40} ?(?:original message|original-nachricht|ursprüngliche nachricht|originalnachricht|weitergeleitete nachricht|message d['’]origine|message original|mensaje original|messaggio originale|oorspronkelijk bericht|mensagem original|wiadomość oryginalna|oryginalna wiadomość|ursprungligt meddelande|original meddelelse|oprindelig meddelelse|alkuperäinen viesti|původní zpráva|исходное сообщение|пересылаемое сообщение|forwarded message|原始邮件|原始郵件|元のメッセージ|özgün ileti) ?[-_=*]{2,40}|begin forwarded message:|_{20,100})\s{0,3}$/iu;

export function isSeparator(line: string): boolean {
  return line.length <= ATTRIBUTION_CHARS_MAX && SEPARATOR.test(line);
}

const FROM =
  /^\s{0,3}\*{0,2}(?:from|von|de|da|van|från|fra|od|lähettäjä|от|від|kimden|gönderen|发件人|寄件者|差出人|送信者|보낸 사람|من|מאת) ?\*{0,2} ?[:：]/iu;
const FIELD =
  /^\s{0,3}\*{0,2}(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|date|à|objet|enviado(?: el| em)?|fecha|para|asunto|assunto|data|inviato|a|oggetto|verzonden|aan|onderwerp|skickat|till|ämne|sendt|til|emne|wysłano|do|temat|lähetetty|vastaanottaja|aihe|odesláno|komu|předmět|отправлено|дата|кому|тема|gönderildi|kime|konu|发送时间|收件人|主题|寄件日期|收件者|主旨|送信日時|宛先|件名|보낸 날짜|받는 사람|제목|تاريخ الإرسال|التاريخ|إلى|نسخة|الموضوع|נשלח|אל|נושא) ?\*{0,2} ?[:：]/iu;

export function startsHeader(line: string): boolean {
  return FROM.test(line);
}

export function isHeaderLine(line: string): boolean {
  return FIELD.test(line);
}

const MOBILE =
  /^\s{0,3}(?:sent from (?:my|mail for|yahoo mail|outlook|proton)|get outlook for|von meinem .{1,40} gesendet|gesendet (?:von|mit) |diese nachricht wurde von meinem|envoyé (?:de|depuis) (?:mon|l)|obtenez outlook|enviado (?:desde|do|de|a partir do) (?:mi|meu|el|o)\b|obtener outlook|inviato da(?:l mio)? |verzonden (?:vanaf|met|van) |skickat från |sendt fra |lähetetty |wysłane z |odesláno z |отправлено (?:с|из) |надіслано з |发自我的|從我的|从我的|iphoneから送信|나의 .{1,20}에서 보냄).{0,100}$/iu;

export function isMobileSignature(line: string): boolean {
  return line.length <= MOBILE_CHARS_MAX && MOBILE.test(line);
}

const MOBILE_CHARS_MAX = 160;
