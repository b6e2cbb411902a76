export type { Grant } from './bucket.ts';
export { type Counter, createCounter } from './counter.ts';
