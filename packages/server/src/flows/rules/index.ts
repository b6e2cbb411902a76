export { applyRules, moveAnchor, type RulesDone } from './apply-rules.ts';
export { TooMuchRendering } from './batch-rendering.ts';
export { createSlowRenders, type SlowRenders } from './slow-renders.ts';
export { type EnrollmentItem, type Happened, happenedIn, type Item } from './happened.ts';
export { gapOf, isOutdated, letterOf, letterToRender, write } from './compose.ts';
export { consider, type Desk, factsOf, type Known, openDesk } from './desk.ts';
export { gatherKnown } from './gather.ts';
export { localeOfPerson, zoneOfPerson } from './recipient.ts';
