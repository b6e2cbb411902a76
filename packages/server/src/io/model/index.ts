export { type DraftModel, type ModelAnswer, type ModelSettings, openModel } from './draft-model.ts';
