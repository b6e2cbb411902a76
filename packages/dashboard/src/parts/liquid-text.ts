/**
 * Protects Liquid within Markdown from an editor that does not know it. Each piece becomes one word that
 * Markdown does not change, also in a URL, and is restored afterwards.
 */
const CLOSED_BY = { '{{': '}}', '{%': '%}' };
const OPEN = '\uE000';
const CLOSE = '\uE001';
const HIDDEN = /\uE000([\w-]+)\uE001/g;
export const HIDDEN_AT_START = /^\uE000([\w-]+)\uE001/;

export function hideLiquid(markdown: string): string {
  let hidden = '';
  let at = 0;
  for (const { index, 0: opening } of markdown.matchAll(/\{\{|\{%/g)) {
    if (index < at) continue;
    const end = markdown.indexOf(CLOSED_BY[opening as '{{' | '{%'], index + 2);
    if (end < 0) continue;
    hidden += markdown.slice(at, index) + hidePiece(markdown.slice(index, end + 2));
    at = end + 2;
  }
  return hidden + markdown.slice(at);
}

export function showLiquid(text: string): string {
  return text.replaceAll(HIDDEN, (_, code: string) => pieceOf(code));
}

export function hidePiece(piece: string): string {
  return `${OPEN}${toHex(piece)}${CLOSE}`;
}

/** The piece behind a placeholder word. */
export function pieceOf(code: string): string {
  const bytes = (code.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function toHex(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Removes escapes that the editor adds without need: `snake\_case`, `R&amp;D`, `a &lt; b`. The text, and a diff of two
 * texts, should show what was typed. Escapes that change the meaning are kept.
 */
export function tidyMarkdown(markdown: string): string {
  return markdown
    .replaceAll(/(?<=[\p{L}\p{N}])\\_(?=[\p{L}\p{N}])/gu, '_')
    .replaceAll(/&lt;(?=[\s\d=])/g, '<')
    .replaceAll(/&gt;(?!$)/gm, '>')
    .replaceAll(/&amp;(?!#?\w+;)/g, '&');
}

/** True if two Markdown texts differ only in their syntax. */
export function isSameMarkdown(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(markdown: string): string {
  return markdown
    .replaceAll('\r\n', '\n')
    .replaceAll(/\]\(<([^<>\s]*)>/g, ']($1')
    .replaceAll(/^([ \t]*)[*+](?= )/gm, '$1-')
    .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll(/__(?=\S)(.+?)__/g, '**$1**')
    .replaceAll(/(?<![\p{L}\p{N}_])_(?=\S)([^_\n]+?)_(?![\p{L}\p{N}_])/gu, '*$1*')
    .replaceAll(/^(\*\s*){3,}$|^(_\s*){3,}$/gm, '---')
    .replaceAll(/(?<![ \t])[ \t]+$/gm, '')
    .replaceAll(/\n{2,}/g, '\n\n')
    .trim();
}
