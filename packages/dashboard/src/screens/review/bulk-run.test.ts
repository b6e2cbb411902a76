import type { BulkActed, BulkInput } from '@beckon/contract/dashboard';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../api/index.ts';
import { chunksOf, runChunks } from './bulk-run.ts';

const ACT = { kind: 'approve' } as const;
const ids = Array.from({ length: 120 }, (_, at) => `draft ${at}`);

/** A server that changes all drafts except the first one of each request, unless `respond` throws. */
function server(respond: (count: number) => Promise<void> = () => Promise.resolve()) {
  const requests: BulkInput[] = [];
  const send = async (body: BulkInput): Promise<BulkActed> => {
    requests.push(body);
    await respond(requests.length);
    const [first = '', ...others] = body.ids ?? ['by', 'filter'];
    return {
      changed: others.map((id) => ({ id })),
      unchanged: [{ id: first, code: 'conflict', message: 'No' }],
    } as unknown as BulkActed;
  };
  return { requests, send };
}

const GOES_ON = { isEnded: () => false, onStep: () => undefined };

describe('runChunks', () => {
  it('requests 50 drafts at a time and adds up the results', async () => {
    const { requests, send } = server();
    const steps: number[] = [];
    const run = await runChunks(chunksOf({ act: ACT, ids }, ''), {
      ...GOES_ON,
      send,
      onStep: (acted) => steps.push(acted),
    });
    expect(requests.map((body) => body.ids?.length)).toEqual([50, 50, 20]);
    expect(steps).toEqual([49, 49, 19]);
    expect(run).toMatchObject({ processedIds: ids, unchanged: 3, fault: null, left: [] });
    expect(run.ids).toHaveLength(117);
  });

  it('returns the rest after an error, with the results so far', async () => {
    const fault = new ApiError({ status: 503, errors: [], requestId: null });
    const { send } = server((at) => (at === 2 ? Promise.reject(fault) : Promise.resolve()));
    const run = await runChunks(chunksOf({ act: ACT, ids }, ''), { ...GOES_ON, send });
    expect(run).toMatchObject({ processedIds: ids.slice(0, 50), ids: ids.slice(1, 50), unchanged: 1, fault });
    expect(run.left.flatMap((body) => body.ids)).toEqual(ids.slice(50));
  });

  it('sends no further request after the member cancels', async () => {
    let isEnded = false;
    const { requests, send } = server(async () => {
      isEnded = true;
    });
    const run = await runChunks(chunksOf({ act: ACT, ids }, ''), {
      ...GOES_ON,
      send,
      isEnded: () => isEnded,
    });
    expect(requests).toHaveLength(1);
    expect(run).toMatchObject({ processedIds: ids.slice(0, 50), fault: null });
    expect(run.left).toHaveLength(2);
  });

  it('sends one request for a filter', async () => {
    const { requests, send } = server();
    const run = await runChunks(chunksOf({ act: ACT, ids: null }, 'rule:welcome'), { ...GOES_ON, send });
    expect(requests).toEqual([{ action: ACT, filter: 'rule:welcome' }]);
    expect(run).toMatchObject({ processedIds: null, ids: ['filter'], left: [] });
  });
});
