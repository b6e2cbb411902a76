export { fingerprint } from './fingerprint.ts';
export { type IdempotencyKey, readIdempotencyKey } from './key.ts';
export { deleteAnswers, findAnswers, type StoredAnswer, type StoredKey } from './store.ts';
