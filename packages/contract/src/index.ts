export * from './canonical.ts';
export * from './faults.ts';
export type * from './json.ts';
export * from './limits.ts';
export type * from './wire.ts';
export * from './webhooks.ts';
