export { checkEmail, type Publishable } from './publish.ts';
export { cleanEdited } from './clean-edited.ts';
export {
  emailOfVersion,
  type TemplateText,
  listTemplateRows,
  listTemplates,
  loadEmails,
  refused,
  type Template,
  type TemplateRow,
  type TemplateSource,
  toTemplate,
  type TemplateVersionRow,
} from './template.ts';
export { type Renderer, createRenderer, isRenderFailure } from './pool/renderer.ts';
export type { ContentToRender, RenderedEmail } from './pool/tasks.ts';
export { markdownValue } from './print-values.ts';
export { type Email, renderTeamEmail } from './render-email.ts';
export { TOO_MUCH_WORK, WORK_MAX } from './render-work.ts';
export { type RenderedContent, renderContent } from './render.ts';
export { findShippedEmail, shippedEmailNames } from './shipped.ts';
export { markLinks } from './links.ts';
export { personFactsChanged, variablesFor } from './variables.ts';
