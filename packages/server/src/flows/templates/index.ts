export { type Preview, previewLetter, type RenderDeps } from './preview-letter.ts';
export { countFollowing, publishLetter } from './publish-letter.ts';
export {
  type ListedLetter,
  listLetters,
  showLetter,
  type ShownLetter,
  showVariables,
} from './show-templates.ts';
export { checkWords, sendTrialCopy } from './trial-copy.ts';
export { createTemplate, deleteTemplate, editTemplate } from './write-template.ts';
