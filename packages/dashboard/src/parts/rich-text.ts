import type { AnyExtension, JSONContent } from '@tiptap/core';
import { MarkdownManager } from '@tiptap/markdown';
import StarterKit from '@tiptap/starter-kit';
import { LiquidNode } from './liquid-node.ts';
import { hideLiquid, isSameMarkdown, showLiquid, tidyMarkdown } from './liquid-text.ts';

/** The editor's extensions: only what an email layout supports. */
export const EXTENSIONS: AnyExtension[] = [
  StarterKit.configure({
    underline: false,
    strike: false,
    link: { openOnClick: false, autolink: false, isAllowedUri: (uri) => isAddress(uri) },
  }),
  LiquidNode,
];

/** Liquid may be a URL or a part of it. */
function isAddress(uri: string): boolean {
  return /^(https?:|mailto:|\{\{|\uE000|[^:]*$)/i.test(uri);
}

const manager = new MarkdownManager({ extensions: EXTENSIONS });

export function readMarkdown(markdown: string): JSONContent {
  return withAddresses(manager.parse(hideLiquid(markdown)), showLiquid);
}

export function writeMarkdown(content: JSONContent): string {
  return showLiquid(tidyMarkdown(manager.serialize(withAddresses(content, hideLiquid)))).trim();
}

/** The link editor shows the URL unescaped; only Markdown needs escapes. */
function withAddresses(content: JSONContent, change: (address: string) => string): JSONContent {
  const marks = content.marks?.map((mark) => {
    const href: unknown = mark.attrs?.['href'];
    return typeof href === 'string' ? { ...mark, attrs: { ...mark.attrs, href: change(href) } } : mark;
  });
  return {
    ...content,
    ...(marks ? { marks } : {}),
    ...(content.content ? { content: content.content.map((child) => withAddresses(child, change)) } : {}),
  };
}

/** True if the editor supports the whole text. Otherwise (images, tables, HTML) it is edited as Markdown, so nothing is lost. */
export function isWhole(markdown: string): boolean {
  return isSameMarkdown(markdown, writeMarkdown(readMarkdown(markdown)));
}
