export { type DraftModel, type ModelSettings, openModel } from './ai-drafting/draft-model.ts';
export { aiDraftWriter } from './ai-drafting/write-drafts.ts';
export { createTemplate } from './write-template.ts';
