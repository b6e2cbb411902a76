export { type StripeDeps, stripeSources } from './stripe-source.ts';
