import type { BulkActed, BulkInput } from '@beckon/contract/dashboard';
import { ApiError } from '../../api/index.ts';
import type { BulkRequest } from './bulk.tsx';

/** The number of drafts per request, so that the page can show progress. */
const CHUNK = 50;

/** The requests, one after the other. */
export function chunksOf({ act, ids }: BulkRequest, filter: string): BulkInput[] {
  if (ids === null) return [{ action: act, filter }];
  const count = Math.ceil(ids.length / CHUNK);
  return Array.from({ length: count }, (_, at) => ({
    action: act,
    ids: ids.slice(at * CHUNK, (at + 1) * CHUNK),
  }));
}

export type Run = {
  /** The ids that the server has processed; null: those that match the filter. */
  processedIds: string[] | null;
  /** The ids that were changed. */
  ids: string[];
  unchanged: number;
  /** The ids that were not requested, or got no response. */
  left: BulkInput[];
  fault: ApiError | null;
};

export type ChunkOptions = {
  send: (body: BulkInput) => Promise<BulkActed>;
  /** The member canceled. */
  isEnded: () => boolean;
  onStep: (acted: number) => void;
};

/** Runs until the first error, and returns the completed part with it. */
export async function runChunks(chunks: BulkInput[], { send, isEnded, onStep }: ChunkOptions): Promise<Run> {
  const run: Run = { processedIds: [], ids: [], unchanged: 0, left: chunks, fault: null };
  for (const [at, body] of chunks.entries()) {
    if (isEnded()) break;
    try {
      const { changed, unchanged } = await send(body);
      run.ids.push(...changed.map(({ id }) => id));
      run.unchanged += unchanged.length;
      run.processedIds = body.ids && run.processedIds ? [...run.processedIds, ...body.ids] : null;
      run.left = chunks.slice(at + 1);
      onStep(changed.length);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      run.fault = error;
      break;
    }
  }
  return run;
}
