export { checkLetter } from './check-letter.ts';
export { type LetterText } from './letter.ts';
export { renderLetter } from './render.ts';
export { findShippedLetter, shippedLetterNames } from './shipped.ts';
export { type LetterVariables, personFactsChanged, variablesFor } from './variables.ts';
