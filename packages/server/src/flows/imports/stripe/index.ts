export { stripeSources } from './stripe-source.ts';
export { type StripeDeps } from './read-snapshot.ts';
