import { describe, expect, test } from 'vitest';
import { inSlices } from './slices.ts';

const ROWS = Array.from({ length: 1_000 }, (_, i) => i);

describe('inSlices', () => {
  test('sends all rows in order, 250 at a time, and pauses between two slices', async () => {
    const done: (number | 'pause')[] = [];
    const send = async (slice: number[]): Promise<void> => void done.push(slice.length);
    await inSlices(ROWS.slice(0, 600), send, { pause: async () => void done.push('pause') });
    expect(done).toEqual([250, 'pause', 250, 'pause', 100]);
    const sent: number[] = [];
    await inSlices(ROWS, async (slice) => void sent.push(...slice));
    expect(sent).toEqual(ROWS);
  });

  test('sends all slices at once without a pause', () => {
    let slices = 0;
    void inSlices(ROWS, async () => void (slices += 1));
    expect(slices).toBe(4);
  });

  test('rejects with the failure of a slice that failed during a pause', async () => {
    const refused = new Error('refused');
    const sending = inSlices(ROWS, () => Promise.reject(refused), {
      pause: () => new Promise((resolve) => setImmediate(resolve)),
    });
    await expect(sending).rejects.toBe(refused);
  });
});
