import { markdownValue } from '../rendering/index.ts';

export type BodyBlock =
  | { kind: 'paragraph'; text: string }
  | { kind: 'bullets'; items: string[] }
  /** `address`: a URL of the email itself. */
  | { kind: 'link'; text: string; address: string };

/** Returns a body of plain words: whatever they spell, they are not Markdown. */
export function markdownOfBlocks(blocks: BodyBlock[]): string {
  return `${blocks.map(written).join('\n\n')}\n`;
}

function written(block: BodyBlock): string {
  switch (block.kind) {
    case 'paragraph':
      return lineOf(block.text);
    case 'bullets':
      return block.items.map((item) => `- ${lineOf(item)}`).join('\n');
    case 'link':
      return `[${lineOf(block.text)}](<${block.address}>)`;
    default:
      return block satisfies never;
  }
}

/** Trims the text, because leading spaces would change the meaning of the line. */
function lineOf(text: string): string {
  return markdownValue(text.trim());
}
