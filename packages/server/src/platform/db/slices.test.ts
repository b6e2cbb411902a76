import { describe, expect, test } from 'vitest';
import { inSlices, sendInSlices } from './slices.ts';

const ROWS = Array.from({ length: 1_000 }, (_, i) => i);
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('inSlices', () => {
  test('sends all rows in order, 250 at a time, and pauses between two slices', async () => {
    const calls: (number | 'pause')[] = [];
    const send = async (slice: number[]): Promise<void> => void calls.push(slice.length);
    await inSlices(ROWS.slice(0, 600), send, { pause: async () => void calls.push('pause') });
    expect(calls).toEqual([250, 'pause', 250, 'pause', 100]);
    const sent: number[] = [];
    await inSlices(ROWS, async (slice) => void sent.push(...slice));
    expect(sent).toEqual(ROWS);
  });

  test('sends no statement without rows', async () => {
    await inSlices([], () => Promise.reject(new Error('sent')));
  });

  test('begins a new slice after 256 KiB', async () => {
    const sizes: number[] = [];
    await inSlices(ROWS.slice(0, 10), async (slice) => void sizes.push(slice.length), {
      bytesOf: () => 100 * 1024,
    });
    expect(sizes).toEqual([3, 3, 3, 1]);
  });

  test('reads a row only when its slice is prepared', async () => {
    const steps: string[] = [];
    const rows = ROWS.slice(0, 3)
      .values()
      .map((row) => {
        steps.push(`row ${row}`);
        return row;
      });
    await inSlices(rows, async () => void steps.push('send'), {
      bytesOf: () => 256 * 1024,
      pause: async () => void steps.push('pause'),
    });
    expect(steps.filter((step) => step !== 'pause')).toEqual([
      'row 0',
      'row 1',
      'send',
      'row 2',
      'send',
      'send',
    ]);
  });

  test('sends all slices at once without a pause', () => {
    let slices = 0;
    void inSlices(ROWS, async () => void (slices += 1));
    expect(slices).toBe(4);
  });

  test('rejects with the failure of a slice that failed during a pause', async () => {
    const refused = new Error('refused');
    const sending = inSlices(ROWS, () => Promise.reject(refused), { pause: nextTurn });
    await expect(sending).rejects.toBe(refused);
  });
});

describe('sendInSlices', () => {
  test('resolves when all slices are sent, before they are written', async () => {
    const write = Promise.withResolvers<void>();
    let slices = 0;
    const { written } = await sendInSlices(
      ROWS,
      () => {
        slices += 1;
        return write.promise;
      },
      { pause: nextTurn },
    );
    expect(slices).toBe(4);
    write.resolve();
    await written;
  });
});
