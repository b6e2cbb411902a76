import { TERMS } from './terms.ts';

export type Rule = 'headless' | 'term' | 'long';

/** A problem of a sentence, and the suggested wording. */
export type Problem = { rule: Rule; advice: string };

const WORDS_MAX = 25;
/** A column may be headed "What" or "Where set". */
const OPENING_FROM_WORDS = 3;

/** "Whoever waits …", "What failed is …", "Of this email no …": the noun comes late, or never. Questions are fine. */
const HEADLESS =
  /^(?:what|whoever|who|whose|whom|whatever|where|wherever|of|nothing|nobody|those|whether|which)\b(?!.*\?)/i;

const MATCHERS = TERMS.map((term) => ({ ...term, pattern: new RegExp(`\\b(?:${term.find})\\b`, 'i') }));

/** Most sentences contain none of the words: one search instead of forty. */
const ANY_TERM = new RegExp(`\\b(?:${TERMS.map(({ find }) => find).join('|')})\\b`, 'i');

/** Checks one sentence. Code and quotations in it have been replaced already. */
export function problemsOf(sentence: string): Problem[] {
  const problems: Problem[] = [];
  const words = countWords(sentence);
  const opening = HEADLESS.exec(sentence)?.[0];
  if (opening !== undefined && words >= OPENING_FROM_WORDS)
    problems.push({ rule: 'headless', advice: `opens with "${opening}": begin with the noun` });
  for (const { pattern, say, unless } of ANY_TERM.test(sentence) ? MATCHERS : []) {
    const found = pattern.exec(sentence)?.[0];
    if (found === undefined || unless?.test(sentence)) continue;
    problems.push({ rule: 'term', advice: `"${found}": say ${say}` });
  }
  if (words > WORDS_MAX)
    problems.push({ rule: 'long', advice: `${words} words: split it, at most ${WORDS_MAX}` });
  return problems;
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}◆]/u.test(word)).length;
}
