import Type from 'typebox';
import { item } from './envelope.ts';
import type { ExcludedUsers } from './rules.ts';

/** The figures of a step. `passed` and `ended` count runs that started in the period. */
export type FlowStep = {
  /** The index that runs have as `step`. */
  at: number;
  /** Its path in the document, such as `steps.2.then.0`. */
  path: string;
  /** Active and paused runs at this step. */
  active: number;
  paused: number;
  /** Runs that continued after this step. */
  passed: number;
  /** True if more runs may have passed: it is unknown which branch some of them took. */
  at_least: boolean;
  /** Runs that ended at this step, by reason. */
  ended: Record<string, number>;
};

/** The current version of a rule, step by step. */
export type RuleFlow = {
  version: number;
  since: string;
  /** Triggers, conditions, goal and steps in words, by their path in the document. Triggers have the path `when.0` and so on. */
  labels: Record<string, string>;
  /** Runs that started in the period, in all versions. `holdout` is a part of them; `goal`: those that reached the goal. */
  enrolled: number;
  holdout: number;
  goal: number;
  excluded: ExcludedUsers[];
  /** Runs that started in the period and ended, by reason. */
  ended: Record<string, number>;
  /** Active and paused runs of older versions. */
  in_older_versions: number;
  steps: FlowStep[];
};

export const FLOW_API = {
  'GET /projects/:project/rules/:rule/flow': {
    query: Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: 366 })) }),
    response: item<RuleFlow>(),
  },
};
