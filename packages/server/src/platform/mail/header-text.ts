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
    : `${fold(`${name}: ${value}`)}\r\n`;
}

/** Formats a field with its own syntax, such as List-Id: ASCII in it stays unchanged. */
export function formedField(name: string, value: string): string {
  const words = value
    .toWellFormed()
    .replace(/(?<![^ ])[^ ]*[^\x20-\x7e][^ ]*(?: +[^ ]*[^\x20-\x7e][^ ]*)*/g, (run) =>
      encodedWords(run, LINE_MAX / 2),
    );
  return `${fold(`${name}: ${words.trim()}`)}\r\n`;
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
export function fold(field: string): string {
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

function encodedWords(text: string, firstLineTaken: number): string {
  const latin = text.replace(/[^A-Za-z ]/g, '').length;
  const encode = latin * 2 > text.length ? qWord : bWord;
  const words: string[] = [];
  let run = '';
  let word = '';
  for (const sign of text) {
    const longer = encode(run + sign);
    const max = words.length === 0 ? Math.min(WORD_MAX, LINE_MAX - firstLineTaken) : WORD_MAX;
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
