import { useSyncExternalStore } from 'react';
import { useAhead } from './ahead.tsx';

/**
 * What time it is where this stands: in a sandbox that of its clock. One timer for all clocks of the page, each second; it runs only
 * while somebody shows one.
 */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now) + useAhead();
}

const heard = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(tick: () => void): () => void {
  heard.add(tick);
  now = timer === null ? Date.now() : now;
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of heard) one();
  }, 1_000);
  return () => {
    heard.delete(tick);
    if (heard.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}
