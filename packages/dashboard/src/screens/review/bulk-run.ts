import type { BulkActed, BulkAsked } from '@beckon/contract/dashboard';
import { ApiError } from '../../api/index.ts';
import type { Wanted } from './bulk.tsx';

/** So many go in one request, so that the page can tell how far it is. */
const CHUNK = 50;

/** What is asked for, one request after the other. */
export function chunksOf({ act, ids }: Wanted, filter: string): BulkAsked[] {
  if (ids === null) return [{ act, filter }];
  const count = Math.ceil(ids.length / CHUNK);
  return Array.from({ length: count }, (_, at) => ({ act, ids: ids.slice(at * CHUNK, (at + 1) * CHUNK) }));
}

export type Run = {
  /** About which the server has answered; null: about those that pass the filter. */
  asked: string[] | null;
  /** Which of them it has done it to. */
  ids: string[];
  refused: number;
  /** What it was not asked for, or gave no answer to. */
  left: BulkAsked[];
  fault: ApiError | null;
};

export type Running = {
  send: (body: BulkAsked) => Promise<BulkActed>;
  /** Somebody wants no more of it. */
  isEnded: () => boolean;
  onStep: (acted: number) => void;
};

/** Goes as far as it can; what was done before a fault is done, and is told with it. */
export async function runChunks(chunks: BulkAsked[], { send, isEnded, onStep }: Running): Promise<Run> {
  const run: Run = { asked: [], ids: [], refused: 0, left: chunks, fault: null };
  for (const [at, body] of chunks.entries()) {
    if (isEnded()) break;
    try {
      const { acted, refused } = await send(body);
      run.ids.push(...acted.map(({ id }) => id));
      run.refused += refused.length;
      run.asked = body.ids && run.asked ? [...run.asked, ...body.ids] : null;
      run.left = chunks.slice(at + 1);
      onStep(acted.length);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      run.fault = error;
      break;
    }
  }
  return run;
}
