import { NAMES } from './terms.ts';

export type Sentence = { line: number; text: string };

/** Replaces what is exempt. It counts as one word and may begin a sentence. */
export const EXEMPT = '◆';

const EXEMPTIONS: readonly RegExp[] = [
  /(`+)[^`][\s\S]*?\1/g,
  /<!--[\s\S]*?-->/g,
  /\bhttps?:\/\/[^\s)>\]]+/g,
  // Paths, file names and flags outside of code spans.
  /(?<![\w/])(?:\.{0,2}\/)?[\w.*-]+(?:\/[\w.*{},-]+)+/g,
  /\{\{[^{}]*\}\}|\$?\{[\w. ]*\}/g,
  new RegExp(NAMES.join('|'), 'g'),
  // Text that a user typed or a program printed.
  /"[^"\n]{1,80}"|“[^”\n]{1,80}”/g,
];

/** Replaces code spans, link targets, quotations and names of others, and keeps the line breaks. */
export function withoutExempt(text: string): string {
  let rest = text;
  for (const pattern of EXEMPTIONS) rest = rest.replaceAll(pattern, replaceByMark);
  return rest
    .replaceAll(/!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\([^()]*\)/g, '$1')
    .replaceAll(/<\/?[a-z][^<>\n]{0,200}>/gi, ' ')
    .replaceAll(/\*\*|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)/g, '');
}

function replaceByMark(found: string): string {
  return EXEMPT + '\n'.repeat(found.split('\n').length - 1);
}

/** Matches the end of a sentence: a period, a colon before another sentence, or an empty line. A heading or a list item also ends one. */
const BETWEEN = /(?<=[.!?:][")”’]?)\s+(?=["“(]*[\p{Lu}◆])|\n[^\S\n]*\n\s*|\n\s*(?=(?:[-*]|#{1,6}|\d+\.) )/u;
const LEAD = /^\s*(?:(?:[-*]|#{1,6}|\d+\.) +)?/;

/** The sentences of one paragraph, cell, comment or message. `line` is the line of its first character. */
export function sentencesOf(text: string, line: number): Sentence[] {
  const found: Sentence[] = [];
  let rest = withoutExempt(text);
  let at = line;
  while (rest !== '') {
    const gap = BETWEEN.exec(rest);
    const sentence = gap ? rest.slice(0, gap.index) : rest;
    const lead = LEAD.exec(sentence)?.[0] ?? '';
    const plain = sentence.slice(lead.length).trim().replaceAll(/\s+/g, ' ');
    if (/\p{L}{2}/u.test(plain)) found.push({ line: at + breaksIn(lead), text: plain });
    const used = gap ? gap.index + gap[0].length : rest.length;
    at += breaksIn(rest.slice(0, used));
    rest = rest.slice(used);
  }
  return found;
}

function breaksIn(text: string): number {
  return text.split('\n').length - 1;
}
