/** The answer that a model returns: text in blocks, and never Markdown, HTML or a URL. */
export type Block =
  | { kind: 'paragraph'; text: string }
  | { kind: 'bullets'; items: string[] }
  | { kind: 'link'; text: string; linkId: string };

export type Answer = {
  subject: string;
  preheader: string;
  blocks: Block[];
  /** The names of the facts that the text uses. */
  factsUsed: string[];
};

const text = { type: 'string' } as const;

/** All fields are required and no others are allowed, because some endpoints accept no other schema. */
export const ANSWER_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['subject', 'preheader', 'blocks', 'facts_used'],
  properties: {
    subject: text,
    preheader: text,
    blocks: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['kind', 'text', 'items', 'link_id'],
        properties: {
          kind: { type: 'string', enum: ['paragraph', 'bullets', 'link'] },
          text,
          items: { type: 'array', items: text },
          link_id: text,
        },
      },
    },
    facts_used: { type: 'array', items: text },
  },
} as const;

/** Returns null if the answer does not have the required form. */
export function readAnswer(value: unknown): Answer | null {
  if (!isRecord(value) || typeof value.subject !== 'string') return null;
  const { subject, preheader = '', blocks, facts_used: factsUsed = [] } = value;
  if (typeof preheader !== 'string' || !Array.isArray(blocks) || !isTexts(factsUsed)) return null;
  const read = blocks.map(readBlock);
  const known = read.filter((block) => block !== null);
  return known.length === read.length ? { subject, preheader, blocks: known, factsUsed } : null;
}

function readBlock(value: unknown): Block | null {
  if (!isRecord(value)) return null;
  const { kind, text: words, items, link_id: linkId } = value;
  if (kind === 'paragraph' && typeof words === 'string') return { kind, text: words };
  if (kind === 'bullets' && isTexts(items)) return { kind, items };
  if (kind === 'link' && typeof words === 'string' && typeof linkId === 'string')
    return { kind, text: words, linkId };
  return null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Returns every piece of text that a reader would see. */
export function textsOf({ subject, preheader, blocks }: Answer): string[] {
  const body = blocks.flatMap((block) => (block.kind === 'bullets' ? block.items : [block.text]));
  return [subject, preheader, ...body].filter((one) => one !== '');
}
