import type { FeedItem, FeedType } from '@beckon/contract/dashboard';
import type { FeedDeps, FeedState, Source } from './feed.ts';

/** The items that every tab receives. Events, requests and changes of users can be thousands per second, so they are opt-in. */
const FEW_TYPES = [
  'draft',
  'draft_changed',
  'email',
  'outcome',
  'bulk_change',
  'audience_built',
  'user_erased',
] as const satisfies FeedType[];
const FEW = `type:${FEW_TYPES.join(',')}`;

const BATCH_MS = 80;
const BATCH_MAX = 2_000;
const AGAIN_MS = { stopping: 1_000, signed_out: 0, too_many: 30_000, lost: 2_000 } as const;
const CLOSED = 2;

type ConnectionOptions = {
  signal: AbortSignal;
  everything: boolean;
  position: () => string | null;
  onItems: (items: FeedItem[], position: string) => void;
  onState: (state: FeedState) => void;
  onGap: () => void;
};
export type Connection = { aim: (everything: boolean) => void; ended: Promise<void> };

/** The connection of the leading tab. It reconnects after the last received item for as long as the tab exists. */
export function connect(deps: FeedDeps, options: ConnectionOptions): Connection {
  const { signal, position } = options;
  let { everything } = options;
  let source: Source | null = null;
  let generation = 0;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const batch = collect(options.onItems);
  let isBack = false;
  const onState = (state: FeedState): void => {
    // The server resumes after a position. Without one it starts with new items.
    if (state === 'live' && isBack && position() === null) options.onGap();
    isBack = true;
    options.onState(state);
  };

  const open = (): void => {
    if (signal.aborted) return;
    batch.flush();
    generation += 1;
    const mine = generation;
    const last = position();
    source?.close();
    source = deps.open({
      ...(everything ? {} : { filter: FEW }),
      ...(last === null ? {} : { last_event_id: last }),
    });
    listenToSource(source, {
      onGap: options.onGap,
      onState,
      onItem: batch.add,
      // Ignore events of a source that was closed on purpose.
      onLost: (afterMs) => reconnect(mine, afterMs),
    });
  };
  const again = async (mine: number, afterMs: number): Promise<void> => {
    await deps.wait(afterMs, signal);
    await deps.ready(signal);
    if (mine === generation) open();
  };
  const reconnect = (mine: number, afterMs: number): void => {
    // Only closing the page ends this wait.
    again(mine, afterMs).catch(() => undefined);
  };
  const close = (): void => {
    batch.stop();
    source?.close();
    resolve();
  };
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });
  open();
  return {
    aim(next) {
      if (next === everything) return;
      everything = next;
      open();
    },
    ended,
  };
}

type SourceHandlers = {
  onState: (state: FeedState) => void;
  onGap: () => void;
  onItem: (item: FeedItem, position: string) => void;
  onLost: (comeBackAfterMs: number) => void;
};

function listenToSource(source: Source, { onState, onGap, onItem, onLost }: SourceHandlers): void {
  source.onopen = () => onState('live');
  source.onerror = () => {
    onState('reconnecting');
    // EventSource reconnects after an interrupted connection, but not after an error response.
    if (source.readyState === CLOSED) onLost(AGAIN_MS.lost);
  };
  source.addEventListener('message', ({ data, lastEventId }) =>
    onItem(JSON.parse(data) as FeedItem, lastEventId),
  );
  source.addEventListener('gap', onGap);
  source.addEventListener('end', ({ data }) => {
    const { reason } = JSON.parse(data) as { reason: keyof typeof AGAIN_MS };
    source.close();
    onState('reconnecting');
    onLost(AGAIN_MS[reason]);
  });
}

type Batch = { add: (item: FeedItem, position: string) => void; flush: () => void; stop: () => void };

/** Batches items, so that a page renders ten times per second instead of a thousand. */
function collect(onItems: (items: FeedItem[], position: string) => void): Batch {
  let items: FeedItem[] = [];
  let position = '';
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const ready = items;
    items = [];
    if (ready.length > 0) onItems(ready, position);
  };
  return {
    add(item, itemPosition) {
      items.push(item);
      position = itemPosition;
      if (items.length >= BATCH_MAX) flush();
      else timer ??= setTimeout(flush, BATCH_MS);
    },
    flush,
    stop: () => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
