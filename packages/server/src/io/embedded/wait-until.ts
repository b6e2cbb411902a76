import { setTimeout as pause } from 'node:timers/promises';

export type Bounds = { everyMs: number; forMs: number; signal?: AbortSignal | undefined };

/**
 * Asks again until there is an answer; undefined when the time is over, an AbortError when told to stop. Asking, because neither
 * a file nor a process that is not our child sends us an event.
 */
export async function waitUntil<T>(
  check: () => Promise<T | undefined> | T | undefined,
  bounds: Bounds,
): Promise<T | undefined> {
  const until = performance.now() + bounds.forMs;
  for (;;) {
    const answer = await check();
    if (answer !== undefined || performance.now() >= until) return answer;
    await pause(bounds.everyMs, undefined, { signal: bounds.signal });
  }
}
