export type { Decision, LedgerRow } from './decision.ts';
export { eraseDecisions, forgetDecisions, writeDecisions } from './store.ts';
export { countReasons, listDecisionsOf } from './reads.ts';
