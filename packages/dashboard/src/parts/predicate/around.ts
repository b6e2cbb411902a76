import type { PredicateFacts } from '@beckon/contract/dashboard';

/** What every part of the form is told. */
export type Around = {
  facts: PredicateFacts;
  faults: { field?: string; message: string }[];
  isReadOnly: boolean;
};
