import MarkdownIt from 'markdown-it';
import { isImage, isLink } from './addresses.ts';
import { checkLinkChars, checkTables } from './html-limits.ts';
import { escapeHtml } from './html.ts';

/**
 * Renders Markdown for the layout. Styles are inline, because some mail clients remove all others. HTML in it is shown as typed. A link or
 * image that an email may not have is replaced by its text and reported.
 */

type Tokens = ReturnType<typeof markdown.parse>;
type Token = Tokens[number];

const CODE =
  'font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:14px;background-color:#f3f4f6;';
const CELL = 'padding:6px 12px 6px 0;border-bottom:1px solid #d8dbe0;text-align:left;vertical-align:top;';
const HEADING = 'margin:0 0 12px;font-size:17px;line-height:26px;font-weight:600;';
const LIST = 'margin:0 0 16px;padding:0 0 0 24px;';
const PRE = `margin:0 0 16px;padding:12px;${CODE}line-height:20px;white-space:pre-wrap;`;

const STYLES = new Map([
  ['p', 'margin:0 0 16px;'],
  ['ul', LIST],
  ['ol', LIST],
  ['li', 'margin:0 0 8px;'],
  ['blockquote', 'margin:0 0 16px;padding:0 0 0 16px;border-left:3px solid #d8dbe0;color:#5c6370;'],
  ['h1', 'margin:0 0 16px;font-size:24px;line-height:32px;font-weight:600;'],
  ['h2', 'margin:0 0 16px;font-size:20px;line-height:28px;font-weight:600;'],
  ['h3', HEADING],
  ['h4', HEADING],
  ['h5', HEADING],
  ['h6', HEADING],
  ['table', 'margin:0 0 16px;border-collapse:collapse;font-size:15px;'],
  ['th', `${CELL}font-weight:600;`],
  ['td', CELL],
  ['hr', 'margin:8px 0 24px;border:0;border-top:1px solid #d8dbe0;'],
  ['a', 'color:#0b57d0;text-decoration:underline;'],
  ['img', 'max-width:100%;height:auto;border:0;'],
  ['code', `${CODE}padding:1px 4px;`],
]);

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });
// Accepts every URL here and checks it below, so that a rejected one can be reported.
markdown.validateLink = () => true;
markdown.renderer.rules['code_block'] = writePre;
markdown.renderer.rules['fence'] = writePre;

function writePre(tokens: Tokens, at: number): string {
  return `<pre style="${PRE}">${escapeHtml(tokens[at]?.content ?? '')}</pre>\n`;
}

export function markdownToHtml(body: string, warnings: Set<string>): string {
  checkTables(body);
  const tokens = markdown.parse(body, {});
  let linkChars = 0;
  for (const token of tokens) {
    if (token.type === 'inline') checkLinkChars((linkChars += dressInline(token.children ?? [], warnings)));
    else dress(token);
  }
  return markdown.renderer.render(tokens, markdown.options, {}).trimEnd();
}

function dress(token: Token): void {
  if (token.nesting === -1) return;
  const style = STYLES.get(token.tag);
  if (style !== undefined) token.attrSet('style', style + (token.attrGet('style') ?? ''));
}

/** Returns the length of all link addresses and titles. */
function dressInline(tokens: Token[], warnings: Set<string>): number {
  // Links are not nested.
  let isDropped = false;
  let linkChars = 0;
  for (const token of tokens) {
    switch (token.type) {
      case 'link_open':
        linkChars += linkCharsOf(token);
        isDropped = !passes(token, 'href', warnings);
        token.hidden = isDropped;
        break;
      case 'link_close':
        token.hidden = isDropped;
        break;
      case 'image':
        linkChars += linkCharsOf(token);
        if (!passes(token, 'src', warnings)) leaveWords(token);
        break;
      default:
    }
    dress(token);
  }
  return linkChars;
}

function linkCharsOf({ attrs }: Token): number {
  return attrs?.reduce((sum, [, value]) => sum + String(value).length, 0) ?? 0;
}

function passes(token: Token, name: 'href' | 'src', warnings: Set<string>): boolean {
  const address = String(token.attrGet(name) ?? '');
  const isKept = name === 'href' ? isLink(address) : isImage(address);
  if (!isKept) warnings.add(refusalOf(name, address));
  return isKept;
}

function refusalOf(name: 'href' | 'src', address: string): string {
  const text = JSON.stringify(address.length > 100 ? `${address.slice(0, 100)}…` : address);
  return name === 'href'
    ? `The link to ${text} is left out. Links must use http, https or mailto`
    : `The image ${text} is left out. Images must use https`;
}

function leaveWords(image: Token): void {
  image.type = 'text';
  image.content = markdown.renderer.renderInlineAsText(image.children ?? [], markdown.options, {});
}
