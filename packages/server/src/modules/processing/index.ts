export { startAudienceBuilder } from './audience-builder.ts';
export type { BuildStep } from './build-audience.ts';
export { type Processor, createProcessor } from './process.ts';
export { startProcessor } from './processor.ts';
export { pruneMarks } from './prune-marks.ts';
export { repairTimers } from './sweep-timers.ts';
