import type { BulkRefusal } from '@beckon/contract/dashboard';
import { formatCount } from './list.ts';
import { notify, refused } from './notices.tsx';

type BulkResult = {
  done: number;
  /** What was done, for one row and for several: "suppression removed". */
  one: string;
  many: string;
  refused: readonly BulkRefusal[];
};

/** "3 suppressions removed. 2 refused: …", in one notification. */
export function bulkText({ done, one, many, refused: refusals }: BulkResult): string {
  const parts = refusals.map(({ message, rows }) => `${formatCount(rows)} refused: ${sentence(message)}`);
  return [`${formatCount(done)} ${done === 1 ? one : many}.`, ...parts].join(' ');
}

export function notifyBulk(result: BulkResult): void {
  const text = bulkText(result);
  if (result.refused.length === 0) notify(text);
  else refused({ message: text }, result.done === 0 ? 'Nothing was changed' : 'Not everything was changed');
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
