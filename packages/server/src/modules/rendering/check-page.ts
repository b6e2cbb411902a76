import { Tokenizer, type TokenHandler, TokenizerMode } from 'parse5';
import { BAD_STYLE, isImage, isLink, UNSUBSCRIBE } from './addresses.ts';
import { HOST_FIRST } from './liquid.ts';
import { inAddress, PLACE } from './liquid-links.ts';

/**
 * Checks what a page with its own layout may contain, and where it may have a variable. The page is read as a browser reads it, with
 * markers in place of its variables. So every value stays a word or part of a URL.
 */

/** A Liquid tag or output as written, and its line in the author's source. */
export type TemplateTag = { text: string; kind: 'output' | 'tag'; line: number };

/** `written`: the text that replaces each marker in the end, by the marker's offset in the page. */
export type CheckedPage = { written: Map<number, string>; flaws: { message: string; line: number | null }[] };

type StartTag = Parameters<TokenHandler['onStartTag']>[0];
type Characters = Parameters<TokenHandler['onCharacter']>[0];
/** `signs`: all markers of the page in order, so that those of one text or attribute are found without reading the rest of the page. */
type Check = CheckedPage & {
  html: string;
  tags: readonly TemplateTag[];
  sign: RegExp;
  signs: RegExpExecArray[];
  inStyle: boolean;
};

const REFUSED = new Set(
  (
    'script iframe frame frameset object embed applet form input button textarea select base link svg math audio video ' +
    'template noscript dialog noembed noframes plaintext xmp portal'
  ).split(' '),
);
const WORDS_IN = new Set(['alt', 'title', 'aria-label']);
const ADDRESSES = new Map<string, 'href' | 'src'>([
  ['href', 'href'],
  ['src', 'src'],
  ['background', 'src'],
]);
const NOT_ALLOWED = new Set(['srcset', 'srcdoc', 'ping', 'action', 'formaction']);
const STYLE_FETCHES = 'a style can load images over https, and nothing else';

/**
 * Works on tags and not on a tree. In a tree, text within a table (where conditions are) is moved, and the context of each marker has to be
 * known before that.
 */
export function checkPage(html: string, tags: readonly TemplateTag[], sign: RegExp): CheckedPage {
  const signs = [...html.matchAll(sign)];
  const check: Check = { html, tags, sign, signs, written: new Map(), flaws: [], inStyle: false };
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag(tag) {
        checkTag(tag, check);
        if (tag.tagName === 'title') tokenizer.state = TokenizerMode.RCDATA;
        if (tag.tagName === 'style') tokenizer.state = TokenizerMode.RAWTEXT;
        check.inStyle = tag.tagName === 'style';
      },
      onEndTag() {
        check.inStyle = false;
      },
      onCharacter: (characters) => checkText(characters, check),
      onWhitespaceCharacter: ignore,
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
  );
  tokenizer.write(html, true);
  for (const { index, 1: number } of signs) {
    if (!check.written.has(index)) refuseTag(check, Number(number));
  }
  return check;
}

function ignore(): void {
  // A variable here gets no replacement, so it is reported as not allowed.
}

function checkText({ chars, location }: Characters, check: Check): void {
  if (check.inStyle) {
    if (BAD_STYLE.test(chars)) flaw(check, STYLE_FETCHES);
    return;
  }
  for (const { index, 1: number } of signsIn(check, location?.startOffset ?? 0, location?.endOffset ?? 0)) {
    const tag = check.tags[Number(number)];
    if (tag && !isUnsubscribe(tag)) check.written.set(index, tag.text);
  }
}

function checkTag({ tagName, attrs, location }: StartTag, check: Check): void {
  if (REFUSED.has(tagName)) flaw(check, `<${tagName}> is not allowed in an email`);
  const refresh = attrs.find(({ name }) => name === 'http-equiv')?.value.toLowerCase();
  if (tagName === 'meta' && refresh === 'refresh') flaw(check, 'an email cannot redirect');
  for (const { name, value } of attrs) {
    const { startOffset = 0, endOffset = 0 } = location?.attrs?.[name] ?? {};
    checkAttribute({ name, value, from: startOffset, to: endOffset }, check);
  }
}

type Attribute = { name: string; value: string; from: number; to: number };

function checkAttribute(attribute: Attribute, check: Check): void {
  refuseAttribute(attribute, check);
  const { name, value, from, to } = attribute;
  const use = ADDRESSES.get(name);
  const signs = signsIn(check, from, to);
  if (use && signs.length === 0) return checkAddress(value, use, check);
  // Without quotes a value could become an attribute of its own.
  if (!/^[^=]*=\s*(["'])[^]*\1$/.test(check.html.slice(from, to))) return;
  if (use) return writeInAddress(value, { signs, use }, check);
  if (WORDS_IN.has(name)) for (const sign of signs) writeText(sign, check);
}

function refuseAttribute({ name, value }: Attribute, check: Check): void {
  if (name.startsWith('on')) flaw(check, `scripts are not allowed: ${name}`);
  if (name === 'style' && BAD_STYLE.test(value)) flaw(check, STYLE_FETCHES);
  if (NOT_ALLOWED.has(name)) flaw(check, `${name} is not allowed`);
}

function writeText({ index, 1: number }: RegExpExecArray, { tags, written }: Check): void {
  const tag = tags[Number(number)];
  if (tag?.kind === 'output' && !isUnsubscribe(tag)) written.set(index, tag.text);
}

function checkAddress(value: string, use: 'href' | 'src', check: Check): void {
  const isFine = use === 'href' ? isLink(value.trim()) : isImage(value.trim());
  const message = use === 'href' ? 'a link must use http, https or mailto' : 'an image must use https';
  if (!isFine) flaw(check, `${message}, not ${JSON.stringify(value.slice(0, 100))}`);
}

type InAddress = { signs: RegExpExecArray[]; use: 'href' | 'src' };

function writeInAddress(value: string, { signs, use }: InAddress, check: Check): void {
  const words = value.trim().split(new RegExp(check.sign.source));
  if (isUnsubscribeLink(words, signs, check)) {
    if (use === 'href' && signs[0]) check.written.set(signs[0].index, UNSUBSCRIBE);
    return;
  }
  let before = '';
  for (const [nth, { index, 1: number }] of signs.entries()) {
    // Every other piece is the number of a marker.
    before += words[nth * 2] ?? '';
    const tag = check.tags[Number(number)];
    if (tag?.kind !== 'output' || isUnsubscribe(tag)) return;
    const written = inAddress(tag.text, { before, use });
    if (written === null) {
      // All later markers are in the same URL and fail for the same reason.
      flaw(check, HOST_FIRST, tag.line);
      for (const { index: at } of signs.slice(nth)) check.written.set(at, '');
      return;
    }
    check.written.set(index, written);
    before += PLACE;
  }
}

function isUnsubscribeLink(words: string[], [first, ...others]: RegExpExecArray[], { tags }: Check): boolean {
  const tag = tags[Number(first?.[1])];
  return tag !== undefined && isUnsubscribe(tag) && others.length === 0 && words[0] === '' && words[2] === '';
}

function refuseTag(check: Check, number: number): void {
  const tag = check.tags[number];
  if (!tag) return;
  const text = tag.text.slice(0, 100);
  flaw(
    check,
    isUnsubscribe(tag) ? `${text} must be the complete URL of a link` : `${text} ${WHERE}`,
    tag.line,
  );
}

const WHERE =
  'is not allowed here: use variables in text and in quoted alt, title, href and src attributes, and conditions in text or in <mj-raw> between components';

function isUnsubscribe({ text }: TemplateTag): boolean {
  return /^\{\{-?\s*unsubscribe_url\s*-?\}\}$/.test(text);
}

function signsIn({ signs }: Check, from: number, to: number): RegExpExecArray[] {
  let [low, high] = [0, signs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((signs[middle]?.index ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while ((signs[end]?.index ?? to) < to) end += 1;
  return signs.slice(low, end);
}

/** More errors are not listed: no one fixes hundreds at once, and each is compared with those before it. */
const FLAWS_MAX = 50;

function flaw({ flaws }: Check, message: string, line: number | null = null): void {
  if (flaws.length >= FLAWS_MAX) return;
  if (!flaws.some((existing) => existing.message === message && existing.line === line))
    flaws.push({ message, line });
}
