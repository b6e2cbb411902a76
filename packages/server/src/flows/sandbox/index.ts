export { type AdvanceDeps, type Advanced, advanceClock, readAdvance } from './advance-clock.ts';
export { switchSandbox } from './switch-sandbox.ts';
