/** A header as it was sent: its name in lower case, its value on one line. */
export type MailHeader = { name: string; value: string };

/** A part that is not shown as the message itself: a report, a returned message or a file. */
export type MailPart = { type: string; text: string };

/** An incoming message, read within bounds. Unreadable parts are empty. */
export type InboundMail = {
  /** In order; only those of the message itself. */
  headers: MailHeader[];
  /** From `From`, in lower case; null if it has no address or several. */
  from: string | null;
  /** From `To`, `Cc` and `Delivered-To`, in lower case. */
  to: string[];
  subject: string;
  /** With angle brackets, like all ids below. */
  messageId: string | null;
  inReplyTo: string[];
  references: string[];
  /** The readable text; for an email with HTML only, the text of the HTML. Lines end with `\n`. */
  text: string;
  /** True if `text` was made from HTML. */
  textIsFromHtml: boolean;
  html: string | null;
  parts: MailPart[];
  /** True if the message exceeded the bounds. */
  cut: boolean;
};

/** A block of `Name: value` lines, as in a header, a delivery report or a quoted email. */
export type Fields = MailHeader[];

const FIELDS_MAX = 500;
const VALUE_CHARS_MAX = 8_000;
const FIELD = /^([!-9;-~]{1,80})[ \t]{0,20}:(.*)$/;

/** Reads up to the first empty line. A line that is neither a field nor a continuation is skipped. */
export function readFields(lines: readonly string[]): Fields {
  const found: Fields = [];
  for (const line of lines) {
    if (line.trim() === '' || found.length >= FIELDS_MAX) break;
    const last = found.at(-1);
    if (/^[ \t]/.test(line)) {
      if (last) last.value = `${last.value} ${line.trim()}`.trim().slice(0, VALUE_CHARS_MAX);
      continue;
    }
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name !== undefined && value !== undefined)
      found.push({ name: name.toLowerCase(), value: value.trim().slice(0, VALUE_CHARS_MAX) });
  }
  return found;
}

/** Reads blocks separated by empty lines, as in `message/delivery-status`. */
export function readFieldGroups(text: string, max: number): Fields[] {
  const groups: Fields[] = [];
  let lines: string[] = [];
  for (const line of [...linesOf(text), '']) {
    if (line.trim() !== '') lines.push(line);
    else if (lines.length > 0) {
      const fields = readFields(lines);
      if (fields.length > 0) groups.push(fields);
      lines = [];
    }
    if (groups.length >= max) break;
  }
  return groups;
}

export function linesOf(text: string): string[] {
  return text.split('\n');
}

export function firstOf(fields: readonly MailHeader[], ...names: string[]): string | null {
  for (const name of names) {
    const found = fields.find((field) => field.name === name && field.value !== '');
    if (found) return found.value;
  }
  return null;
}

export function allOf(fields: readonly MailHeader[], name: string): string[] {
  return fields.filter((field) => field.name === name && field.value !== '').map((field) => field.value);
}

/** Deliberately narrow: an address in a report that does not match is not accepted. */
const ADDRESS =
  /(?<![^\s<>"'(),:;[\]\\|：（），、；。「」【】《》])[^\s<>"'(),:;[\]\\|：（），、；。「」【】《》]{1,128}@(?:[a-z\d_-]{1,63}\.){0,10}[a-z\d_-]{1,63}\b/giu;

/** Returns distinct addresses in lower case, up to `max`. */
export function addressesIn(text: string, max: number): string[] {
  const found = new Set<string>();
  for (const [address] of text.matchAll(ADDRESS)) {
    if (found.size >= max) break;
    found.add(address.toLowerCase());
  }
  return [...found];
}

const MESSAGE_ID = /<[^<>\s]{1,900}>/g;

export function messageIdsIn(text: string, max: number): string[] {
  return [...text.matchAll(MESSAGE_ID)].slice(0, max).map(([id]) => id);
}
