export { startBuilder } from './audience-builder.ts';
export type { BuildStep } from './build-audience.ts';
export { type Digest, createDigest } from './process.ts';
export { type Digester, startDigester } from './processor.ts';
