export { startAudienceBuilder } from './audience-builder.ts';
export type { BuildStep } from './build-audience.ts';
export { type Processor, createProcessor } from './process.ts';
export { type ProcessorLoop, startProcessor } from './processor.ts';
