import { createContext, use } from 'react';
import type { StepKind } from './document.ts';
import type { Labels, Part, StepNumbers } from './flow-words.ts';

/** Users who would have reached a step, and emails that it would have drafted. */
export type Reach = { users: number; emails: number };

/** What all nodes of the flow share. Steps are named by their path, and the other parts by their name. */
export type Flow = {
  labels: Labels;
  /** By path; a step that is not saved has none. */
  numbers: ReadonlyMap<string, StepNumbers>;
  /** By path; null: the numbers are shown. */
  reach: ReadonlyMap<string, Reach> | null;
  /** Steps and parts with an error. */
  faulty: ReadonlySet<string>;
  selected: string | null;
  readOnly: boolean;
  /** The rule has as many steps as it may have. */
  isFull: boolean;
  actions: FlowActions;
};

export type FlowActions = {
  open: (part: Part | `steps.${string}`) => void;
  insert: (path: string, kind: StepKind) => void;
  move: (path: string, by: -1 | 1) => void;
  mayMove: (path: string, by: -1 | 1) => boolean;
  remove: (path: string) => void;
};

const NOTHING: Flow = {
  labels: new Map(),
  numbers: new Map(),
  reach: null,
  faulty: new Set(),
  selected: null,
  readOnly: true,
  isFull: false,
  actions: {
    open: () => undefined,
    insert: () => undefined,
    move: () => undefined,
    mayMove: () => false,
    remove: () => undefined,
  },
};

export const FlowContext = createContext<Flow>(NOTHING);

export function useFlow(): Flow {
  return use(FlowContext);
}
