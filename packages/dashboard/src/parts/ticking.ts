import { useSyncExternalStore } from 'react';
import { useAhead } from './ahead.tsx';

/**
 * The current time; in a sandbox that of its test clock. One timer per second for all clocks of the page. It runs only
 * while a clock is shown.
 */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now) + useAhead();
}

const MINUTE_MS = 60_000;

/** The beginning of the current minute, for what changes slowly: the component renders once a minute. */
export function useMinute(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / MINUTE_MS) * MINUTE_MS) + useAhead();
}

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(tick: () => void): () => void {
  listeners.add(tick);
  now = timer === null ? Date.now() : now;
  timer ??= setInterval(() => {
    now = Date.now();
    for (const listener of listeners) listener();
  }, 1_000);
  return () => {
    listeners.delete(tick);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}
