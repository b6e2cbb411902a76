import type { FeedItem } from '@beckon/contract/dashboard';
import { useEffect, useReducer, useRef, useState } from 'react';
import { useApi, useCall, useFeed } from '../../api/index.ts';
import { addSample, EMPTY_TAIL, type RateSample, nextTail, ratePerSecond, type Tail } from './tail.ts';

const LIMIT = 200;
/** With a filter, the server evaluates it, at most this often: the filter language exists only there. */
const ASK_EVERY_MS = 1_000;

export type TailControls = {
  tail: Tail;
  start: ReturnType<typeof useApi<'GET /projects/:project/stream'>>;
  pause: () => void;
  resume: () => void;
};

/** Past and new items that match the filter. */
export function useTail(filter: string | undefined): TailControls {
  const query = { limit: LIMIT, ...(filter === undefined ? {} : { filter }) };
  const start = useApi('GET /projects/:project/stream', { query }, { staleTimeMs: 0 });
  const [tail, move] = useReducer(nextTail, EMPTY_TAIL);
  useEffect(() => {
    if (start.data) move({ do: 'start', items: start.data.data });
  }, [start.data]);
  const hear = (items: FeedItem[]): void => move({ do: 'hear', items });
  const look = useLook(filter, hear);
  useFeed(
    () => true,
    (items) => (filter === undefined ? hear(items) : look()),
    { everything: true },
  );
  return { tail, start, pause: () => move({ do: 'pause' }), resume: () => move({ do: 'resume' }) };
}

/** Requests now, or as soon as the minimum interval has passed. */
function useLook(filter: string | undefined, hear: (items: FeedItem[]) => void): () => void {
  const call = useCall();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef({ filter, hear });
  useEffect(() => {
    latest.current = { filter, hear };
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [filter],
  );
  const load = async (): Promise<void> => {
    timer.current = undefined;
    const requestedFilter = latest.current.filter;
    if (requestedFilter === undefined) return;
    const { data } = await call('GET /projects/:project/stream', {
      query: { filter: requestedFilter, limit: LIMIT },
    });
    if (latest.current.filter === requestedFilter) latest.current.hear(data);
  };
  return () => {
    // The next request returns what a failed one missed.
    timer.current ??= setTimeout(() => void load().catch(() => undefined), ASK_EVERY_MS);
  };
}

const LOOK_EVERY_MS = 1_000;

/** Items per second in this project, without the filter. */
export function useRate(): number {
  const samples = useRef<RateSample[]>([]);
  const [rate, setRate] = useState(0);
  useFeed(
    () => true,
    (items) => {
      samples.current = addSample(samples.current, { at: Date.now(), count: items.length });
    },
    { everything: true },
  );
  useEffect(() => {
    const timer = setInterval(() => setRate(ratePerSecond(samples.current, Date.now())), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return rate;
}
