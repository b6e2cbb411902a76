import type { ErrorEntry } from '@beckon/contract';
import type { NotedRequest } from '../../users/index.ts';

/** The content of the project's request log beside the status. */
export type Tally = Pick<NotedRequest, 'code' | 'accepted' | 'rejected' | 'bytes' | 'faults' | 'aheadMs'> & {
  startedAt: number;
};

/** Returns the log entry of a refused request: no record of it is stored. */
export function refusalOf(errors: ErrorEntry[]): Pick<Tally, 'code' | 'accepted' | 'rejected' | 'faults'> {
  const code = errors[0]?.code ?? null;
  const none = { code, accepted: 0, rejected: 0 };
  return code === 'validation_failed' ? { ...none, faults: errors } : none;
}
