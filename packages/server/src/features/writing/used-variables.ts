import { analyzeSync } from 'liquidjs';
import { LETTER_PARTS, type LetterText } from './letter.ts';
import { parsePart } from './liquid.ts';
import { markupOf, renderLetter } from './render.ts';
import { TOO_MUCH_WORK } from './render-work.ts';
import { refused } from './template.ts';

/** A name that a letter reads. `holds`: the letter has no other words where nothing is known of it, so it waits for a person. */
export type UsedVariable = { name: string; holds: boolean };

/** In the order in which they come. A trait within a trait is told by the first of them, which is what is stored. */
export function usedVariables(letter: LetterText): UsedVariable[] {
  const names = LETTER_PARTS.flatMap((part) => {
    const parsed = parsePart(letter[part], markupOf(letter, part));
    if ('flaw' in parsed) return [];
    const globals = Object.values(analyzeSync(parsed.templates, { partials: false }).globals).flat();
    return globals
      .toSorted((a, b) => a.location.row - b.location.row || a.location.col - b.location.col)
      .map(({ segments: [root, key] }) =>
        typeof key === 'string' ? `${String(root)}.${key}` : String(root),
      );
  });
  const missing = renderLetter(letter, UNKNOWN).missing;
  const holds = (name: string): boolean => missing.some((one) => one === name || one.startsWith(`${name}.`));
  return [...new Set(names)].map((name) => ({ name, holds: holds(name) }));
}

const UNKNOWN = {
  person: {},
  event: {},
  project: { name: '' },
  run: { ends_at: null },
  zone: 'UTC',
  locale: 'en',
};

/** What a letter says to somebody of whom nothing is known; a fault where even that takes too much work. */
export function trialContent(letter: LetterText): LetterText {
  const { content, failed } = renderLetter(letter, UNKNOWN);
  if (failed !== null) throw refused([{ message: `${failed}: ${TOO_MUCH_WORK}`, field: failed }]);
  return content;
}
