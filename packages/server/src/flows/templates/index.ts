export { type Preview, previewLetter } from './preview-letter.ts';
export { type ListedLetter, listLetters, showLetter, type ShownLetter } from './show-templates.ts';
export { createTemplate, deleteTemplate, editTemplate } from './write-template.ts';
