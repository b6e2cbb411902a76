import type { ReviewAction } from '@beckon/contract/dashboard';

/** The actions in the order of a tally, in the past. */
export const DECIDED: Record<ReviewAction, string> = {
  approve: 'approved',
  edit: 'edited',
  skip: 'skipped',
  postpone: 'postponed',
};
