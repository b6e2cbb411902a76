/**
 * Text in header fields: printable ASCII unchanged, anything else as encoded words (RFC 2047), folded so that lines have at most 76
 * characters where possible. Input to these functions must not contain control characters.
 */
const LINE_MAX = 76;
const WORD_MAX = 75;
const PRINTABLE = /^[\x20-\x7e]*$/;
/** All other characters are escaped, so that the word is also valid in a phrase (RFC 2047, section 5). */
const Q_PLAIN = /^[A-Za-z0-9!*+/-]$/;

function isPrintable(text: string): boolean {
  return PRINTABLE.test(text);
}

/** Formats a whole field of free text, such as a subject. */
export function textField(name: string, text: string): string {
  const value = text.toWellFormed().replace(/ +/g, ' ').trim();
  return needsWords(value)
    ? `${name}: ${encodedWords(value, name.length + 2)}\r\n`
    : `${foldField(`${name}: ${value}`)}\r\n`;
}

/** Formats a field with its own syntax, such as List-Id: ASCII in it stays unchanged. */
export function formedField(name: string, value: string): string {
  const words = value
    .toWellFormed()
    .replace(/(?<![^ ])[^ ]*[^\x20-\x7e][^ ]*(?: +[^ ]*[^\x20-\x7e][^ ]*)*/g, (run) =>
      encodedWords(run, LINE_MAX / 2),
    );
  return `${foldField(`${name}: ${words.trim()}`)}\r\n`;
}

/** `address` is a result of `wireAddress`. */
export function mailboxField(name: string, mailbox: { name: string; address: string }): string {
  const label = mailbox.name.toWellFormed().replace(/ +/g, ' ').trim();
  if (label === '') return `${name}: ${mailbox.address}\r\n`;
  const phrase = needsWords(label) ? encodedWords(label, name.length + 2) : quoteIfNeeded(label);
  const first = `${name}: ${phrase}`;
  const lastLine = first.length - (first.lastIndexOf('\n') + 1);
  const gap = lastLine + mailbox.address.length + 3 > LINE_MAX ? '\r\n ' : ' ';
  return `${first}${gap}<${mailbox.address}>\r\n`;
}

/** Also true for text that looks encoded although it is not, and for text that could not be folded. */
function needsWords(text: string): boolean {
  return !isPrintable(text) || text.includes('=?') || /[^ ]{70}/.test(text);
}

function quoteIfNeeded(label: string): string {
  return /^[A-Za-z0-9 ]+$/.test(label) ? label : `"${label.replace(/["\\]/g, '\\$&')}"`;
}

/** Breaks before spaces. Text without spaces stays in one piece. */
export function foldField(field: string): string {
  if (field.length <= LINE_MAX) return field;
  const lines: string[] = [];
  let line = '';
  for (const word of field.split(/(?<=[^ \n])(?= )/)) {
    if (line !== '' && line.length + word.length > LINE_MAX && !line.endsWith(':')) {
      lines.push(line);
      line = word;
    } else line += word;
  }
  return [...lines, line].join('\r\n');
}

function encodedWords(text: string, firstLineUsed: number): string {
  const latin = text.replace(/[^A-Za-z ]/g, '').length;
  const encode = latin * 2 > text.length ? qWord : bWord;
  const words: string[] = [];
  let run = '';
  let word = '';
  for (const sign of text) {
    const longer = encode(run + sign);
    const max = words.length === 0 ? Math.min(WORD_MAX, LINE_MAX - firstLineUsed) : WORD_MAX;
    if (longer.length <= max || run === '') {
      run += sign;
      word = longer;
      continue;
    }
    words.push(word);
    run = sign;
    word = encode(sign);
  }
  return [...words, word].join('\r\n ');
}

function bWord(run: string): string {
  return `=?UTF-8?B?${Buffer.from(run, 'utf8').toString('base64')}?=`;
}

function qWord(run: string): string {
  let text = '';
  for (const sign of run) {
    if (Q_PLAIN.test(sign)) text += sign;
    else if (sign === ' ') text += '_';
    else text += Buffer.from(sign, 'utf8').toString('hex').toUpperCase().replace(/../g, '=$&');
  }
  return `=?UTF-8?Q?${text}?=`;
}

const QP_LINE_MAX = 76;
const [TAB, LF, CR, SPACE, EQUALS, DOT, UPPER_F] = [9, 10, 13, 32, 61, 46, 70];
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

/** 1 for bytes that are literal in any position. */
const PLAIN = new Uint8Array(256);
for (let byte = 33; byte <= 126; byte += 1) PLAIN[byte] = byte === EQUALS ? 0 : 1;

/**
 * Encodes text as quoted-printable with CRLF, whatever its line ends. It stays readable, which filters prefer to base64.
 *
 * The result has no long line, no trailing white space, no leading dot and no leading `From`. So no mail server has a reason to change
 * it, which would break the signature.
 */
export function quotedPrintable(text: string): Buffer {
  const input = Buffer.from(text.toWellFormed(), 'utf8');
  const out = Buffer.allocUnsafe(input.length * 3 + Math.ceil(input.length / 24) * 3 + 2);
  let at = 0;
  let lineStart = 0;
  for (let i = 0; i < input.length; i += 1) {
    const byte = input[i] ?? 0;
    if (byte === CR || byte === LF) {
      if (byte === CR && input[i + 1] === LF) i += 1;
      at = endLine(out, at);
      lineStart = at;
      continue;
    }
    const plain = isPlain(input, i, at === lineStart);
    if (at - lineStart + (plain ? 1 : 3) >= QP_LINE_MAX) {
      out[at] = EQUALS;
      at = endLine(out, at + 1);
      lineStart = at;
    }
    // Checked again for a byte that is now the first in its line.
    if (plain && (at > lineStart || isPlain(input, i, true))) out[at++] = byte;
    else at = escape(out, at, byte);
  }
  return out.subarray(0, at);
}

function isPlain(input: Buffer, i: number, first: boolean): boolean {
  const byte = input[i] ?? 0;
  if (byte === SPACE || byte === TAB) {
    const next = input[i + 1];
    return next !== undefined && next !== CR && next !== LF;
  }
  if (first && (byte === DOT || byte === UPPER_F)) return byte === UPPER_F && input[i + 1] !== 114;
  return PLAIN[byte] === 1;
}

function endLine(out: Buffer, at: number): number {
  out[at] = CR;
  out[at + 1] = LF;
  return at + 2;
}

function escape(out: Buffer, at: number, byte: number): number {
  out[at] = EQUALS;
  out[at + 1] = HEX[byte >> 4] ?? 0;
  out[at + 2] = HEX[byte & 15] ?? 0;
  return at + 3;
}
