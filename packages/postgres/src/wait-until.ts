import { setTimeout as pause } from 'node:timers/promises';

export type Bounds = { everyMs: number; forMs: number; signal?: AbortSignal | undefined };

/**
 * Polls until `check` returns a value. Returns undefined after the time limit, and rejects with an AbortError when aborted. It polls
 * because neither a file nor a process that is not a child sends an event.
 */
export async function waitUntil<T>(
  check: () => Promise<T | undefined> | T | undefined,
  bounds: Bounds,
): Promise<T | undefined> {
  const until = performance.now() + bounds.forMs;
  for (;;) {
    const result = await check();
    if (result !== undefined || performance.now() >= until) return result;
    await pause(bounds.everyMs, undefined, { signal: bounds.signal });
  }
}
