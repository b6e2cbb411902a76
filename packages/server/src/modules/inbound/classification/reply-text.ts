import { type InboundMail, linesOf } from './mail.ts';

const TEXT_CHARS_MAX = 64 * 1024;
const LINE_CHARS_MAX = 2_000;
const SNIPPET_CHARS_MAX = 500;

/**
 * Returns the human-written text, without the signature and without quotations; if nothing is left, the whole text. A quotation of one line
 * above human-written words stays, with its attribution: "> Friday?" gives "Yes" its meaning.
 *
 * It is one pass, in which each line checks a few lines after it, so the cost is linear in the length of the text.
 */
export function replyText({ text }: Pick<InboundMail, 'text'>): string {
  const whole = linesOf(text.slice(0, TEXT_CHARS_MAX)).map((line) => line.slice(0, LINE_CHARS_MAX).trimEnd());
  const kept: string[] = [];
  let quotation: string[] = [];
  for (let i = 0; i < whole.length; i++) {
    const line = whole[i] ?? '';
    const attribution = linesOfAttribution(whole, i);
    if (endsReply(whole, i, attribution)) break;
    if (attribution > 0 || isQuoted(line) || (line === '' && quotation.length > 0)) {
      const length = Math.max(attribution, 1);
      quotation.push(...whole.slice(i, i + length));
      i += length - 1;
    } else if (!isMobileSignature(line)) {
      kept.push(...keptQuotation(quotation), line);
      quotation = [];
    }
  }
  const humanText = tidy(kept);
  return humanText === '' ? tidy(whole) : humanText;
}

/** A signature, a copied email, or a quotation without marks on its lines continues to the end. */
function endsReply(lines: string[], at: number, attribution: number): boolean {
  const line = lines[at] ?? '';
  if (isSignatureMark(line) || isSeparator(line) || beginsHeader(lines, at)) return true;
  return attribution > 0 && !quoteFollows(lines, at + attribution);
}

/** Returns a short quotation unchanged, and otherwise the paragraph break that it leaves. */
function keptQuotation(quotation: string[]): string[] {
  if (quotation.filter((line) => /^\s{0,3}>[\s>]*[^\s>]/.test(line)).length === 1) return quotation;
  return quotation.includes('') ? [''] : [];
}

/** Returns the text as one line. */
export function snippetOf(text: string): string {
  const line = text
    .slice(0, TEXT_CHARS_MAX)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const cut = line.slice(0, SNIPPET_CHARS_MAX);
  // Removes half of a surrogate pair.
  return line.length > cut.length ? cut.replace(/[\uD800-\uDBFF]$/, '').trimEnd() : line;
}

/** RFC 3676 requires a space after the mark, which many programs drop. */
function isSignatureMark(line: string): boolean {
  return line === '--' || line === '—';
}

function isQuoted(line: string): boolean {
  return /^\s{0,3}>/.test(line);
}

const ATTRIBUTION_LINES_MAX = 4;

/**
 * Returns the number of lines of an attribution such as "On Monday, Ada wrote:", which may be broken over a few lines; 0 if none begins
 * here.
 */
function linesOfAttribution(lines: string[], from: number): number {
  const first = lines[from] ?? '';
  if (isQuoted(first) || !opensAttribution(first)) return 0;
  for (let i = 0; i < ATTRIBUTION_LINES_MAX; i++) {
    const line = lines[from + i] ?? '';
    if (line.trim() === '') return 0;
    if (closesAttribution(line)) return i + 1;
  }
  return 0;
}

const LINES_TO_QUOTE_MAX = 3;

function quoteFollows(lines: string[], from: number): boolean {
  const next = lines.slice(from, from + LINES_TO_QUOTE_MAX).find((line) => line.trim() !== '');
  return next !== undefined && isQuoted(next);
}

const HEADER_LINES_MAX = 6;
const HEADER_LINES_MIN = 2;

/** Detects the header that Outlook copies above a quotation. */
function beginsHeader(lines: string[], from: number): boolean {
  if (!startsHeader(lines[from] ?? '')) return false;
  return lines.slice(from + 1, from + HEADER_LINES_MAX).filter(isHeaderLine).length >= HEADER_LINES_MIN;
}

function tidy(lines: string[]): string {
  const sparse = lines.filter((line, i) => line !== '' || lines[i - 1] !== '');
  return sparse.join('\n').trim();
}

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

function opensAttribution(line: string): boolean {
  return OPENS.test(line);
}

/** Returns whether a line ends with a colon after a word for writing, or after an address. */
export function closesAttribution(line: string): boolean {
  return line.length <= ATTRIBUTION_CHARS_MAX && CLOSES.test(line);
}

const ATTRIBUTION_CHARS_MAX = 400;

const SEPARATOR =
  /^\s{0,3}(?:[-_=*]{2,40} ?(?:original message|original-nachricht|ursprüngliche nachricht|originalnachricht|weitergeleitete nachricht|message d['’]origine|message original|mensaje original|messaggio originale|oorspronkelijk bericht|mensagem original|wiadomość oryginalna|oryginalna wiadomość|ursprungligt meddelande|original meddelelse|oprindelig meddelelse|alkuperäinen viesti|původní zpráva|исходное сообщение|пересылаемое сообщение|forwarded message|原始邮件|原始郵件|元のメッセージ|özgün ileti) ?[-_=*]{2,40}|begin forwarded message:|_{20,100})\s{0,3}$/iu;

function isSeparator(line: string): boolean {
  return line.length <= ATTRIBUTION_CHARS_MAX && SEPARATOR.test(line);
}

const FROM =
  /^\s{0,3}\*{0,2}(?:from|von|de|da|van|från|fra|od|lähettäjä|от|від|kimden|gönderen|发件人|寄件者|差出人|送信者|보낸 사람|من|מאת) ?\*{0,2} ?[:：]/iu;
const FIELD =
  /^\s{0,3}\*{0,2}(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|date|à|objet|enviado(?: el| em)?|fecha|para|asunto|assunto|data|inviato|a|oggetto|verzonden|aan|onderwerp|skickat|till|ämne|sendt|til|emne|wysłano|do|temat|lähetetty|vastaanottaja|aihe|odesláno|komu|předmět|отправлено|дата|кому|тема|gönderildi|kime|konu|发送时间|收件人|主题|寄件日期|收件者|主旨|送信日時|宛先|件名|보낸 날짜|받는 사람|제목|تاريخ الإرسال|التاريخ|إلى|نسخة|الموضوع|נשלח|אל|נושא) ?\*{0,2} ?[:：]/iu;

export function startsHeader(line: string): boolean {
  return FROM.test(line);
}

function isHeaderLine(line: string): boolean {
  return FIELD.test(line);
}

const MOBILE =
  /^\s{0,3}(?:sent from (?:my|mail for|yahoo mail|outlook|proton)|get outlook for|von meinem .{1,40} gesendet|gesendet (?:von|mit) |diese nachricht wurde von meinem|envoyé (?:de|depuis) (?:mon|l)|obtenez outlook|enviado (?:desde|do|de|a partir do) (?:mi|meu|el|o)\b|obtener outlook|inviato da(?:l mio)? |verzonden (?:vanaf|met|van) |skickat från |sendt fra |lähetetty |wysłane z |odesláno z |отправлено (?:с|из) |надіслано з |发自我的|從我的|从我的|iphoneから送信|나의 .{1,20}에서 보냄).{0,100}$/iu;

function isMobileSignature(line: string): boolean {
  return line.length <= MOBILE_CHARS_MAX && MOBILE.test(line);
}

const MOBILE_CHARS_MAX = 160;
