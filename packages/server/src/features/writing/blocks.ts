import { markdownValue } from './printed.ts';

export type BodyBlock =
  | { kind: 'paragraph'; text: string }
  | { kind: 'bullets'; items: string[] }
  /** `address`: one of the letter's own. */
  | { kind: 'link'; text: string; address: string };

/** A body of words alone: whatever they spell, they stay words. */
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

/** Spaces at its beginning would make a line into something else. */
function lineOf(text: string): string {
  return markdownValue(text.trim());
}
