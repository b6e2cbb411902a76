import { afterEach, describe, expect, test } from 'vitest';
import type { TEST_TASKS } from '../../../testing/servers/test-thread.ts';
import { createWorkerPool, TaskStopped, type WorkerPool, type WorkerPoolOptions } from './worker-pool.ts';

type TestTasks = typeof TEST_TASKS;

const opened: WorkerPool<TestTasks>[] = [];
afterEach(() => Promise.all(opened.splice(0).map((pool) => pool.close())));

function openPool(changed: Partial<WorkerPoolOptions> = {}): WorkerPool<TestTasks> {
  const url = new URL('../../../testing/servers/test-thread.ts', import.meta.url);
  const pool = createWorkerPool<TestTasks>({ url, threadsMax: 1, memoryMb: 64, slots: 100, ...changed });
  opened.push(pool);
  return pool;
}

const SOON = { key: 'a', deadlineMs: 50 };
const LATE = { key: 'a', deadlineMs: 60_000 };

async function stopReasonOf(running: Promise<unknown>): Promise<unknown> {
  const error = await running.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof TaskStopped ? error.reason : error;
}

describe('createWorkerPool', () => {
  test('runs tasks in a thread, and returns values, faults and errors', async () => {
    const pool = openPool();
    expect(await pool.run('double', 21, LATE)).toBe(42);
    await expect(pool.run('refuse', 'too long', LATE)).rejects.toMatchObject({
      code: 'validation_failed',
      details: [{ message: 'too long', field: 'body' }],
    });
    await expect(pool.run('stumble', 'oops', LATE)).rejects.toThrow(new TypeError('oops'));
    expect(await pool.run('echo', { of: [1] }, LATE)).toEqual({ of: [1] });
  });

  test('rejects an input that cannot be copied, and runs the next task', async () => {
    const pool = openPool();
    await expect(pool.run('echo', () => 1, LATE)).rejects.toThrow(/could not be cloned/);
    expect(await pool.run('double', 2, LATE)).toBe(4);
  });

  test('stops a task at its deadline, and runs the next task in a new thread', async () => {
    const pool = openPool();
    const looping = pool.run('loop', undefined as never, SOON);
    const next = pool.run('double', 2, LATE);
    expect(await stopReasonOf(looping)).toBe('deadline');
    expect(await next).toBe(4);
  });

  test('stops a task that exceeds its memory bound, and runs the next task', async () => {
    const pool = openPool();
    expect(await stopReasonOf(pool.run('devour', undefined as never, LATE))).toBe('memory');
    expect(await pool.run('double', 2, LATE)).toBe(4);
  });

  test('runs the next task after a thread exits during a task', async () => {
    const pool = openPool();
    expect(await stopReasonOf(pool.run('leave', undefined as never, LATE))).toBe('crashed');
    expect(await pool.run('double', 2, LATE)).toBe(4);
  });

  test('refuses tasks beyond the bounds in total and per key, and runs those that wait', async () => {
    const pool = openPool({ slots: 4 });
    const bounded = { ...LATE, slotsPerKey: 3 };
    const first = pool.run('double', 1, bounded);
    const waiting = [pool.run('double', 2, bounded), pool.run('double', 3, bounded)];
    expect(await stopReasonOf(pool.run('double', 4, bounded))).toBe('busy');
    const others = pool.run('double', 5, { ...LATE, key: 'b' });
    expect(await stopReasonOf(pool.run('double', 6, { ...LATE, key: 'c' }))).toBe('busy');
    expect(await Promise.all([first, ...waiting, others])).toEqual([2, 4, 6, 10]);
  });

  test('close stops running and waiting tasks, and later tasks are refused', async () => {
    const pool = openPool();
    const running = pool.run('loop', undefined as never, LATE);
    const waiting = pool.run('double', 1, LATE);
    const reasons = Promise.all([stopReasonOf(running), stopReasonOf(waiting)]);
    await pool.close();
    expect(await reasons).toEqual(['closed', 'closed']);
    expect(await stopReasonOf(pool.run('double', 1, LATE))).toBe('closed');
  });

  test('delays a task of another key by one task at most', async () => {
    const pool = openPool();
    const order: string[] = [];
    const run = async (key: string, name: string): Promise<void> => {
      order.push(String(await pool.run('echo', name, { ...LATE, key })));
    };
    const ofA = Array.from({ length: 10 }, (_, at) => run('a', `a${at}`));
    await Promise.all([...ofA, run('b', 'b')]);
    expect(order.indexOf('b')).toBeLessThanOrEqual(1);
    expect(order).toHaveLength(11);
  });
});
