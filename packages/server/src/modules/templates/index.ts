export { type DraftModel, type ModelSettings, openModel } from './ai-drafting/draft-model.ts';
export { createTemplate } from './write-template.ts';
