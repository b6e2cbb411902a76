export type { Grant, LimitFacts } from './bucket.ts';
export { type Counter, type CounterDeps, createCounter } from './counter.ts';
export type { Timer } from './timer.ts';
