export { checkLetter } from './check-email.ts';
export { cleanEdited } from './clean-edited.ts';
export type { LetterText } from './email.ts';
export { type Renderer, createRenderer, isRenderBusy, isRenderFailure } from './pool/renderer.ts';
export type { LetterToRender, RenderedEmail } from './pool/tasks.ts';
export { markdownValue } from './print-values.ts';
export type { Publishable } from './publish.ts';
export {
  type TemplateRow,
  type VersionRow,
  listTemplateRows,
  listTemplates,
  loadLetters,
  toTemplate,
} from './published.ts';
export type { Email } from './render-email.ts';
export { TOO_MUCH_WORK, WORK_MAX } from './render-work.ts';
export { type RenderedLetter, renderLetter } from './render.ts';
export { findShippedLetter, shippedLetterNames } from './shipped.ts';
export { renderTeamLetter } from './team-email.ts';
export {
  TEMPLATES_MAX,
  type Template,
  type TemplateSource,
  type TemplateVersion,
  letterOfVersion,
  refused,
} from './template.ts';
export { markLinks } from './track-links.ts';
export { personFactsChanged, variablesFor } from './variables.ts';
