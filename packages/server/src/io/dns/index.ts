export { type Answer, createResolver, type Resolver } from './resolver.ts';
