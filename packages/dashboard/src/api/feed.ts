import type { FeedItem } from '@beckon/contract/dashboard';
import { connect, type Connection } from './feed-connection.ts';

/**
 * Streams a project's activity over one connection for all tabs of a browser.
 *
 * - The tab that holds the lock leads: it has the connection, and broadcasts its items.
 * - The others follow. When the leader closes, one of them gets the lock and continues after the last known position.
 * - Most tabs need only the actions of members. While one wants everything (`Live`), the leader requests everything.
 *
 * Without locks (a page without TLS outside of loopback), each tab has its own connection.
 */
export type Feed = {
  listen(heard: (items: FeedItem[]) => void, everything: boolean): () => void;
  /** For `useSyncExternalStore`. */
  state(): FeedState;
  subscribe(changed: () => void): () => void;
  close(): void;
};

export type FeedState = 'live' | 'reconnecting';

/** The part of `EventSource` that is used. */
export type Source = {
  onopen: (() => void) | null;
  onerror: (() => void) | null;
  readyState: number;
  addEventListener(type: string, heard: (event: { data: string; lastEventId: string }) => void): void;
  close(): void;
};
export type Channel = {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
};

export type FeedDeps = {
  channel: Channel;
  /** Runs `lead` when this tab gets the lock, and holds the lock until the promise of `lead` resolves. */
  lock: (lead: () => Promise<void>, signal: AbortSignal) => Promise<void>;
  open: (asked: { filter?: string; last_event_id?: string }) => Source;
  /** Resolves when the server is reachable and the member is signed in. */
  ready: (signal: AbortSignal) => Promise<void>;
  /** Items were lost: the page is outdated and has to reload its data. */
  onGap: () => void;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

type Told =
  | { kind: 'items'; items: FeedItem[]; place: string }
  | { kind: 'state'; state: FeedState }
  | { kind: 'gap' }
  | { kind: 'want'; tab: string; everything: boolean }
  | { kind: 'hello' };

export function openFeed(deps: FeedDeps, name: string): Feed {
  const ended = new AbortController();
  const tab: Tab = {
    name,
    audience: createAudience(),
    elsewhere: new Set(),
    place: null,
    leading: null,
    signal: ended.signal,
    tell: (told) => {
      if (!ended.signal.aborted) deps.channel.postMessage(told);
    },
  };
  const answers = answersOf(deps, tab);
  deps.channel.onmessage = ({ data }) => {
    const told = data as Told;
    answers[told.kind](told as never);
  };
  // A closed page no longer waits for the lock.
  void deps.lock(() => lead(deps, tab), ended.signal).catch(() => undefined);
  tab.tell({ kind: 'hello' });
  const { audience } = tab;
  return {
    listen: (heard, everything) =>
      audience.listen(heard, everything, () => {
        tab.tell({ kind: 'want', tab: name, everything: audience.wantsAll() });
        tab.leading?.aim(wantsAll(tab));
      }),
    state: audience.state,
    subscribe: audience.subscribe,
    close() {
      if (audience.wantsAll()) tab.tell({ kind: 'want', tab: name, everything: false });
      ended.abort();
      deps.channel.close();
    },
  };
}

type Tab = {
  name: string;
  audience: Audience;
  /** The other tabs that want everything. */
  elsewhere: Set<string>;
  /** The last known position, from this tab or a former leader. */
  place: string | null;
  leading: Connection | null;
  signal: AbortSignal;
  tell: (told: Told) => void;
};

function wantsAll({ audience, elsewhere }: Tab): boolean {
  return audience.wantsAll() || elsewhere.size > 0;
}

function hear(tab: Tab, items: FeedItem[], place: string): void {
  tab.place = place;
  tab.audience.tell(items);
}

async function lead(deps: FeedDeps, tab: Tab): Promise<void> {
  tab.leading = connect(deps, {
    signal: tab.signal,
    everything: wantsAll(tab),
    place: () => tab.place,
    onItems: (items, place) => {
      hear(tab, items, place);
      tab.tell({ kind: 'items', items, place });
    },
    onState: (state) => {
      tab.audience.setState(state);
      tab.tell({ kind: 'state', state });
    },
    onGap: () => {
      deps.onGap();
      tab.tell({ kind: 'gap' });
    },
  });
  tab.tell({ kind: 'hello' });
  await tab.leading.ended;
}

type Answers = { [K in Told['kind']]: (told: Extract<Told, { kind: K }>) => void };

function answersOf(deps: FeedDeps, tab: Tab): Answers {
  return {
    items: ({ items, place }) => hear(tab, items, place),
    gap: deps.onGap,
    state: ({ state }) => tab.audience.setState(state),
    hello() {
      if (tab.leading) tab.tell({ kind: 'state', state: tab.audience.state() });
      if (tab.audience.wantsAll()) tab.tell({ kind: 'want', tab: tab.name, everything: true });
    },
    want({ tab: other, everything }) {
      if (everything) tab.elsewhere.add(other);
      else tab.elsewhere.delete(other);
      tab.leading?.aim(wantsAll(tab));
    },
  };
}

type Heard = (items: FeedItem[]) => void;

type Audience = {
  listen: (heard: Heard, everything: boolean, changed: () => void) => () => void;
  tell: Heard;
  wantsAll: () => boolean;
  state: () => FeedState;
  setState: (state: FeedState) => void;
  subscribe: (changed: () => void) => () => void;
};

/** The listeners of this tab. */
function createAudience(): Audience {
  const listeners = new Map<Heard, boolean>();
  const watchers = new Set<() => void>();
  let state: FeedState = 'reconnecting';
  const wantsAll = (): boolean => [...listeners.values()].includes(true);
  return {
    listen(heard, everything, changed) {
      const before = wantsAll();
      listeners.set(heard, everything);
      if (wantsAll() !== before) changed();
      return () => {
        const still = wantsAll();
        listeners.delete(heard);
        if (wantsAll() !== still) changed();
      };
    },
    tell(items) {
      for (const heard of listeners.keys()) heard(items);
    },
    wantsAll,
    state: () => state,
    setState(next) {
      if (next === state) return;
      state = next;
      for (const changed of watchers) changed();
    },
    subscribe(changed) {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
  };
}
