export { DEMO_DAYS, DEMO_NAME, type DemoDeps, makeDemo } from './make-demo.ts';
export { removeDemos } from './remove-demo.ts';
