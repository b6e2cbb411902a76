export type { Decision, LedgerRow } from './decision.ts';
export { type DecisionPlace, eraseDecisions, forgetDecisions, writeDecisions } from './store.ts';
export { countReasons, listDecisionsOf } from './reads.ts';
