import { item, list } from './envelope.ts';

/** A step in a list. `depth` and `way`: how deep in branches it is, and in which arm of the branch. */
export type SequenceStep = {
  /** The index that runs have as `step`. */
  at: number;
  depth: number;
  way: 'then' | 'else' | null;
  kind: 'draft' | 'wait' | 'wait_until' | 'wait_for' | 'branch' | 'end';
  label: string;
  /** The template of the email that the step drafts; null: it has none. */
  template: string | null;
  /** Active and paused runs at this step. */
  active: number;
  paused: number;
};

/** The present version of a rule, or an older one with runs. */
export type SequenceVersion = {
  version: number;
  is_present: boolean;
  users: number;
  steps: SequenceStep[];
};

export type SequenceListed = {
  id: string;
  name: string;
  on: boolean;
  version: number;
  sentence: string;
  emails: number;
  /** The exit conditions, in words. */
  exits: string[];
  goal: string | null;
  users: number;
  /** The part of `users` in older versions. */
  in_older_versions: number;
};

export type SequenceDetails = SequenceListed & {
  /** The present version first. */
  versions: SequenceVersion[];
  ended: Record<string, number>;
};

export const SEQUENCES_API = {
  'GET /projects/:project/sequences': { response: list<SequenceListed>() },
  'GET /projects/:project/sequences/:rule': { response: item<SequenceDetails>() },
};
