/** The orders of lists. Apart from their filters, which the dashboard loads when a filter is first used. */

import type { ListName } from './lists.ts';

/** The columns by which a list can be sorted, the default first. `-` in front means descending. */
export const LIST_SORTS = {
  users: ['user', '-user', '-first', 'first'],
  emails: ['-at', 'at'],
  requests: ['-at', 'at'],
  deliveries: ['-at', 'at'],
  suppressions: ['value', '-value', '-since', 'since'],
  rules: [
    '-priority',
    'priority',
    'name',
    '-name',
    '-emails',
    'emails',
    '-users',
    'users',
    '-drafted',
    'drafted',
    '-sent',
    'sent',
    '-goal',
    'goal',
  ],
  audiences: ['name', '-name', '-members', 'members'],
  events: ['-recent', 'recent', 'name', '-name', '-last', 'last', '-first', 'first'],
} as const satisfies Partial<Record<ListName, readonly string[]>>;

export type SortedList = keyof typeof LIST_SORTS;
export type SortOf<L extends SortedList> = (typeof LIST_SORTS)[L][number];

/** The maximum number of rows that one action changes. */
export const BULK_MAX_ROWS = 500;
