export { createLookUp, type LookUp } from './look-up.ts';
export { type Answer, createResolver, type Resolver } from './resolver.ts';
