export { type Worded, wordDraft, type WordDeps } from './word-draft.ts';
