export { bouncedOf, deliveredOf, type Grouping, GROUPINGS, type Insight } from './insight.ts';
export { type Arm, ARM_MIN, liftOf, type LiftShown } from './lift.ts';
export { countInsights, type Insights } from './reads.ts';
