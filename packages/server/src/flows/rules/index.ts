export { applyRules, type RulesDone } from './apply-rules.ts';
export { type Happened, happenedIn, type Item } from './happened.ts';
export { letterOf, write } from './compose.ts';
export { consider, type Desk, factsOf, type Known, openDesk, zoneOfPerson } from './desk.ts';
export { gatherKnown } from './gather.ts';
