import type { ActiveRule, Anchor, Definition, Rule } from '../../features/rules/index.ts';
import type { Model } from '../models.ts';
import type { Collisions } from './collide.ts';
import type { Sample, WouldLetter } from './letters.ts';

/** One rule over some time, by what the engine itself decides with; whom it let in is kept in memory alone. */
export type Play = {
  projectId: number;
  /** On for as long as there is anything to remember. */
  rule: ActiveRule;
  model: Model;
  from: number;
  until: number;
  periodMs: number;
  /** Told how far it is, after each stretch of time. */
  watch: (progress: { looked: number; at: number }) => void;
};

export type Entered = {
  userId: string;
  at: number;
  key: string;
  by: Anchor['kind'];
  name: string;
  isHeldOut: boolean;
};

export type Rehearsed = {
  /** Events, joins and dates that had the rule considered. */
  occasions: number;
  /** There were too many dates or members; not all of them were looked at. */
  isCut: boolean;
  /** Where it was cut off, because there were too many events. */
  cutAt: number | null;
  entered: Entered[];
  excluded: Map<string, number>;
  /** For whom a moment is set that comes later. */
  waiting: number;
  letters: WouldLetter[];
  samples: Sample[];
};

/** What was found of one version of a rule. */
export type Found = { rule: Rule & { definition: Definition }; done: Rehearsed; collisions: Collisions };
