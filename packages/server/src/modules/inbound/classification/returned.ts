import { type Fields, firstOf, type InboundMail, linesOf, readFields } from './mail.ts';

/**
 * The bounced email: enclosed as a part, or copied into the text below words that every mail system chooses itself. Its content is only a
 * claim of the sender of the report; only its tokens prove anything.
 */
export type Returned = {
  fields: Fields;
  /** The text of the report, without the copy. */
  notice: string;
  /** The returned part if it is itself a report that a gateway wrapped in an email. */
  report: string;
};

const NOTICE_CHARS_MAX = 64 * 1024;
const LINE_CHARS_MAX = 2_000;
const ENCLOSED = new Set([
  'message/rfc822',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global',
  'message/global-headers',
  'message/partial',
]);

export function readReturned(mail: InboundMail): Returned {
  const enclosed = mail.parts.find(
    ({ type, text }) => ENCLOSED.has(type) && headerOf(linesOf(text)).length > 0,
  );
  const lines = linesOf(mail.text.slice(0, NOTICE_CHARS_MAX)).map((line) => line.slice(0, LINE_CHARS_MAX));
  const begin = beginOfCopy(lines);
  const notice = lines.slice(0, begin).join('\n');
  if (enclosed) {
    const fields = headerOf(linesOf(enclosed.text));
    const isReport = /^multipart\/report\b/i.test(firstOf(fields, 'content-type') ?? '');
    return { fields, notice, report: isReport ? enclosed.text.slice(0, NOTICE_CHARS_MAX) : '' };
  }
  const quoted = headerOf(
    lines.slice(begin).map((line) => line.replace(/^(?:[>|] ?| {2,8}(?=[A-Z][\w-]*:))/, '')),
  );
  return { fields: quoted, notice, report: '' };
}

/** Words above a copy: "--- Below this line is a copy of the message.", "Original message headers:", … */
const COPY_MARK =
  /^[\s>*#|=_.-]{0,80}(?:this is a copy of|below this line is a copy|here is a copy|a copy of (?:the|your) (?:original )?(?:message|mail|headers?)|(?:the |your |start of |beginning of )?(?:original|returned|undelivered|unsent|rejected|failed|bounced|undeliverable) (?:message|mail|e-?mail|text)(?: (?:header|headers|text|follows|is below|attached|below|content|body|header information|as follows|was|details))?(?: follows?)?|(?:the )?(?:headers?|header lines|first \d+ lines|text|body|contents?) of (?:the |your )?(?:original |returned |undelivered )?(?:message|mail|e-?mail)|message (?:header|headers|text|contents?|body) (?:follows|is|are|below)|(?:the )?(?:message|mail) headers?|returned message (?:follows|below)|message header|included is a copy|(?:forwarded|enclosed|attached) (?:message|mail)|(?:original|returned) (?:mail )?headers?|(?:received|unsent) message follows|the following (?:is|are) (?:a copy|the (?:headers?|original))|ursprüngliche nachricht|your message (?:reads|begins|follows|was))\b.{0,80}$/i;
const FIRST_FIELD =
  /^(?:[>|] ?| {2,8})?(?:received: (?:from|by|\()|return-path: ?<?|x-apparently-to:|delivered-to: |dkim-signature: |authentication-results: |arc-seal: |x-google-dkim-signature: )/i;

/** Returns the number of lines above the copy. */
function beginOfCopy(lines: string[]): number {
  const field = lines.findIndex((line) => FIRST_FIELD.test(line));
  const mark = lines.findIndex((line, i) => COPY_MARK.test(line) && leadsToHeader(lines, i + 1));
  const found = [field, mark].filter((at) => at >= 0);
  return found.length === 0 ? lines.length : Math.min(...found);
}

const LINES_TO_HEADER_MAX = 6;

/** Words count as a mark only if fields follow them: "the original message" also occurs in sentences. */
function leadsToHeader(lines: string[], from: number): boolean {
  return lines
    .slice(from, from + LINES_TO_HEADER_MAX)
    .some((line) => /^[\s>|]{0,8}[A-Z][\w-]{1,40}: ?\S/i.test(line));
}

const USUAL = new Set(['from', 'to', 'subject', 'date', 'message-id', 'received', 'return-path']);

/** Returns the first block of fields among the lines, if an email could begin like it. */
function headerOf(lines: string[]): Fields {
  const start = lines.findIndex((line) => /^[\w-]{1,60}:(?: |\t|$)/.test(line) && USUAL_START.test(line));
  if (start < 0) return [];
  const first = firstOfBlock(lines, start);
  const fields = readFields(lines.slice(first));
  return fields.filter(({ name }) => USUAL.has(name)).length >= 2 || fields.length >= 3 ? fields : [];
}

const USUAL_START =
  /^(?:from|to|cc|subject|date|message-id|received|return-path|reply-to|mime-version|content-type|x-[\w-]+|delivered-to|dkim-signature|list-[\w-]+|sender|arc-[\w-]+|authentication-results|feedback-id):/i;

function firstOfBlock(lines: string[], start: number): number {
  let first = start;
  while (first > 0 && /^(?:[\w-]{1,60}:|[ \t]+\S)/.test(lines[first - 1] ?? '')) first -= 1;
  return first;
}
