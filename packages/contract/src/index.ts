export * from './canonical.ts';
export * from './faults.ts';
export * from './limits.ts';
export * from './wire.ts';
export * from './webhooks.ts';
