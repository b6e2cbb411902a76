import type { Many, One } from './envelope.ts';

/** A step as it is shown in a list; `depth` and `way`: within which fork, and on which way out of it. */
export type SequenceStep = {
  /** Its place, as runs know it. */
  at: number;
  depth: number;
  way: 'then' | 'else' | null;
  kind: 'draft' | 'wait' | 'wait_until' | 'wait_for' | 'branch' | 'end';
  label: string;
  /** The letter that it writes, where that has a name. */
  template: string | null;
  /** People who stand there. */
  active: number;
  paused: number;
};

/** One version of a rule in which somebody is under way, or the present one. */
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
  /** What ends it early. */
  exits: string[];
  goal: string | null;
  users: number;
  /** Of them, in older versions. */
  in_older_versions: number;
};

export type SequenceShown = SequenceListed & {
  /** The present one first. */
  versions: SequenceVersion[];
  ended: Record<string, number>;
};

export type SequencesApi = {
  'GET /projects/:project/sequences': { answer: Many<SequenceListed> };
  'GET /projects/:project/sequences/:rule': { answer: One<SequenceShown> };
};
