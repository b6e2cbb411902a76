export { listWarnings } from './list-warnings.ts';
export { type WarningCounter, warningCounter } from './warning-counter.ts';
