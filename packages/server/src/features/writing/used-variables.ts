import { analyzeSync } from 'liquidjs';
import { LETTER_PARTS, type LetterText } from './letter.ts';
import { parsePart } from './liquid.ts';
import { markupOf, renderLetter } from './render.ts';

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
  const unknown = { person: {}, event: {}, project: { name: '' }, run: { ends_at: null }, zone: 'UTC' };
  const missing = renderLetter(letter, unknown).missing;
  const holds = (name: string): boolean => missing.some((one) => one === name || one.startsWith(`${name}.`));
  return [...new Set(names)].map((name) => ({ name, holds: holds(name) }));
}
