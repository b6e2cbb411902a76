export { checkLetter, type Publishable } from './publish.ts';
export { cleanEdited } from './clean-edited.ts';
export {
  letterOfVersion,
  type TemplateText,
  listTemplateRows,
  listTemplates,
  loadLetters,
  refused,
  type Template,
  type TemplateRow,
  TEMPLATES_MAX,
  type TemplateSource,
  type TemplateVersion,
  toTemplate,
  type TemplateVersionRow,
} from './template.ts';
export { type Renderer, createRenderer, isRenderBusy, isRenderFailure } from './pool/renderer.ts';
export type { ContentToRender, RenderedEmail } from './pool/tasks.ts';
export { markdownValue } from './print-values.ts';
export { type Email, renderTeamLetter } from './render-email.ts';
export { TOO_MUCH_WORK, WORK_MAX } from './render-work.ts';
export { type RenderedContent, renderContent } from './render.ts';
export { findShippedLetter, shippedLetterNames } from './shipped.ts';
export { markLinks } from './links.ts';
export { personFactsChanged, variablesFor } from './variables.ts';
