import type { Many } from '@beckon/contract/dashboard';

/** Answers a list that is never long enough for pages. */
export function wholeList<T>(data: T[]): Many<T> {
  return { data, meta: { pagination: { total: data.length, offset: 0, limit: data.length }, cursor: null } };
}
