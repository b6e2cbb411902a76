import { mergeAttributes, Node, nodeInputRule, nodePasteRule } from '@tiptap/core';
import { HIDDEN_AT_START, hidePiece, pieceOf } from './liquid-text.ts';

/** A piece of Liquid in the editor: one unit, shown as written. */
export const LiquidNode = Node.create({
  name: 'liquid',
  group: 'inline',
  inline: true,
  atom: true,
  addAttributes: () => ({
    piece: {
      default: '',
      parseHTML: (element: HTMLElement) => element.dataset['liquid'] ?? '',
      renderHTML: ({ piece }: Record<string, unknown>) => ({ 'data-liquid': piece }),
    },
  }),
  parseHTML: () => [{ tag: 'span[data-liquid]' }],
  renderHTML: ({ node, HTMLAttributes }) => [
    'span',
    mergeAttributes(HTMLAttributes),
    String(node.attrs['piece']),
  ],
  renderText: ({ node }) => String(node.attrs['piece']),
  addInputRules() {
    return [nodeInputRule({ find: /(?:\{\{[^{}]+\}\}|\{%[^{}]+%\})$/, type: this.type, getAttributes })];
  },
  addPasteRules() {
    return [nodePasteRule({ find: /(?:\{\{[^{}]+\}\}|\{%[^{}]+%\})/g, type: this.type, getAttributes })];
  },
  markdownTokenName: 'liquid',
  markdownTokenizer: {
    name: 'liquid',
    level: 'inline',
    start: (text: string) => text.indexOf('\uE000'),
    tokenize: (text: string) => {
      const [raw, code] = HIDDEN_AT_START.exec(text) ?? [];
      return raw === undefined || code === undefined
        ? undefined
        : { type: 'liquid', raw, text: pieceOf(code) };
    },
  },
  parseMarkdown: (token, helpers) => helpers.createNode('liquid', { piece: token.text ?? '' }),
  renderMarkdown: (node) => hidePiece(String(node.attrs?.['piece'] ?? '')),
});

function getAttributes(match: RegExpMatchArray): { piece: string } {
  return { piece: match[0] };
}
