import { analyzeSync } from 'liquidjs';
import { LETTER_PARTS, type LetterText } from './email.ts';
import { parsePart } from './liquid.ts';
import { markupOf, renderLetter } from './render.ts';
import { TOO_MUCH_WORK } from './render-work.ts';
import { refused } from './template.ts';

/** A variable that a template reads. `required`: it has no default, so a draft without a value is held. */
export type UsedVariable = { name: string; required: boolean };

/** Returns the variables in the order of their first use. A path within a trait counts as the trait. */
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
  const isRequired = (name: string): boolean =>
    missing.some((one) => one === name || one.startsWith(`${name}.`));
  return [...new Set(names)].map((name) => ({ name, required: isRequired(name) }));
}

const UNKNOWN = {
  person: {},
  event: {},
  project: { name: '' },
  run: { ends_at: null },
  zone: 'UTC',
  locale: 'en',
};

/** Returns the email for a user without known values. Throws a fault if even that takes too much work. */
export function trialContent(letter: LetterText): LetterText {
  const { content, failed } = renderLetter(letter, UNKNOWN);
  if (failed !== null) throw refused([{ message: `${failed}: ${TOO_MUCH_WORK}`, field: failed }]);
  return content;
}
