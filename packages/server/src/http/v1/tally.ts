import type { ErrorEntry } from '@beckon/contract';
import type { NotedRequest } from '../../features/stream/index.ts';

/** What the project's log of requests says beside the status. */
export type Tally = Pick<NotedRequest, 'code' | 'accepted' | 'rejected' | 'bytes' | 'faults' | 'aheadMs'> & {
  startedAt: number;
};

/** Of a request that was refused: nothing of it is stored. */
export function refusalOf(errors: ErrorEntry[]): Pick<Tally, 'code' | 'accepted' | 'rejected' | 'faults'> {
  const code = errors[0]?.code ?? null;
  const none = { code, accepted: 0, rejected: 0 };
  return code === 'validation_failed' ? { ...none, faults: errors } : none;
}
