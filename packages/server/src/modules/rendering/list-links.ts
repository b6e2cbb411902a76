import MarkdownIt from 'markdown-it';
import { isLink } from './addresses.ts';

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });

type Tokens = ReturnType<typeof markdown.parse>;

/** Returns the link targets of a body in order, each once. Null if the body shows more than words. */
export function linksOfMarkdown(body: string): { address: string; words: string }[] | null {
  const tokens = markdown.parse(body, {});
  const parts = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
  if (parts.some(({ type }) => type === 'image' || type === 'table_open' || /^(?:fence|code_)/.test(type)))
    return null;
  const links = new Map<string, string>();
  for (const [at, part] of parts.entries()) {
    if (part.type !== 'link_open') continue;
    const address = String(part.attrGet('href') ?? '');
    if (isLink(address) && !links.has(address)) links.set(address, wordsFrom(parts, at + 1));
  }
  return [...links].map(([address, words]) => ({ address, words }));
}

function wordsFrom(parts: Tokens, begin: number): string {
  let words = '';
  for (let at = begin; at < parts.length; at += 1) {
    const part = parts[at];
    if (!part || part.type === 'link_close') break;
    words += part.content;
  }
  return words;
}
