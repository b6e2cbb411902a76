export { flawsOf } from './hygiene.ts';
export { type ReadOptions, readEvent, type ReadRecord, readUser } from './record.ts';
