import type { PredicateFacts } from '@beckon/contract/dashboard';

/** The props that all parts of the form share. */
export type Around = {
  facts: PredicateFacts;
  faults: { field?: string; message: string }[];
  isReadOnly: boolean;
};
