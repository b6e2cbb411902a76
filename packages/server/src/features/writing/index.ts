export { type BodyBlock, markdownOfBlocks } from './blocks.ts';
export { checkLetter } from './check-letter.ts';
export { cleanEdited } from './clean-edited.ts';
export { type LetterText } from './letter.ts';
export { completed, readTemplate } from './parse-template.ts';
export { publishable, type Publishable } from './publish.ts';
export { type Email, type EmailFrame, renderEmail } from './render-email.ts';
export { type RenderedLetter, renderLetter } from './render.ts';
export { TOO_MUCH_WORK, WORK_MAX } from './render-work.ts';
export { findShippedLetter, shippedLetterNames } from './shipped.ts';
export { letterOfVersion, type Template, type TemplateSource, type TemplateVersion } from './template.ts';
export {
  discardUnpublished,
  findWords,
  keepWords,
  listUnpublished,
  saveUnpublished,
  type UnpublishedLetter,
} from './unpublished.ts';
export { createTemplate, editTemplate, findTemplate, listVersions, removeTemplate } from './templates.ts';
export { linksOfMarkdown } from './list-links.ts';
export { findLinks, type LinkPlaces, markLinks } from './track-links.ts';
export { renderTeamLetter } from './team-letter.ts';
export { trialContent, type UsedVariable, usedVariables } from './used-variables.ts';
export { type FillRates, fillRates } from './fill-rates.ts';
export { type LetterVariables, personFactsChanged, variablesFor } from './variables.ts';
export { listTemplates, loadLetters } from './published.ts';
