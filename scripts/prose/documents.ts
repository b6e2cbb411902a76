import { type Sentence, sentencesOf } from './sentences.ts';

type Block = { line: number; text: string };

const FENCE = /^\s*(`{3,}|~{3,})/;
const STARTS_BLOCK = /^\s*(?:#{1,6}\s|>|[-*+]\s|\d+\.\s|\|)/;
const LEAD = /^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+(?:\[[ x]\]\s+)?|\d+\.\s+)?/;

/** The sentences of a Markdown page: of paragraphs, headings, list items and each table cell, and of no code block. */
export function markdownSentences(markdown: string): Sentence[] {
  const text = markdown.replaceAll(/<!--[\s\S]*?-->/g, (comment) =>
    '\n'.repeat(comment.split('\n').length - 1),
  );
  return blocksOf(text).flatMap(({ line, text: block }) => sentencesOf(block, line));
}

function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let fence: string | null = null;
  for (const [index, text] of markdown.split('\n').entries()) {
    const line = index + 1;
    const mark = FENCE.exec(text)?.[1] ?? null;
    if (fence !== null || mark !== null) {
      if (fence === null) fence = mark;
      else if (text.trim() === fence) fence = null;
      open = null;
    } else if (/^\s*\|/.test(text)) {
      open = null;
      blocks.push(...cellsOf(text).map((cell) => ({ line, text: cell })));
    } else if (text.trim() === '') open = null;
    else if (open === null || STARTS_BLOCK.test(text))
      blocks.push((open = { line, text: text.replace(LEAD, '') }));
    else open.text += `\n${text}`;
  }
  return blocks;
}

/** A pipe within a code span divides no cells. */
function cellsOf(row: string): string[] {
  const safe = row.replaceAll(/`[^`]*`/g, (code) => code.replaceAll('|', '/'));
  return safe
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '' && !/^:?-+:?$/.test(cell));
}

const READ_KEYS = /^(\s*)(?:- )?(?:summary|description|name|label|title|value|about):\s*(.*)$/;

/** The sentences of the values in a YAML file that are shown to people: of alerts and of issue templates. */
export function yamlSentences(yaml: string): Sentence[] {
  const found: Sentence[] = [];
  let block: (Block & { indent: number }) | null = null;
  for (const [index, text] of [...yaml.split('\n'), 'end'].entries()) {
    const isInside = block !== null && (text.trim() === '' || indentOf(text) > block.indent);
    if (block && isInside) {
      block.text += `\n${text}`;
      continue;
    }
    if (block) found.push(...sentencesOf(block.text, block.line));
    block = null;
    const [, indent = '', value = ''] = READ_KEYS.exec(text) ?? [];
    if (/^[|>]/.test(value)) block = { line: index + 1, text: '', indent: indent.length };
    else found.push(...sentencesOf(value.replace(/^(['"])(.*)\1$/, '$2'), index + 1));
  }
  return found;
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** The sentences of titles and descriptions in a JSON file, such as a Grafana dashboard. */
export function jsonSentences(json: string): Sentence[] {
  return [...json.matchAll(/"(?:title|description|label)":\s*"((?:\\.|[^"\\])*)"/g)].flatMap(
    ({ 1: value = '', index }) =>
      sentencesOf(JSON.parse(`"${value}"`) as string, json.slice(0, index).split('\n').length),
  );
}

/** The sentences of the comments in a file of settings: neighboring lines are one paragraph. */
export function settingsSentences(text: string): Sentence[] {
  const markdown = text
    .split('\n')
    .map((line) => (/^#\s/.test(line) && !/^#\s*[A-Z_]+=/.test(line) ? line.replace(/^#[\s-]*/, '') : ''))
    .join('\n');
  return markdownSentences(markdown);
}
