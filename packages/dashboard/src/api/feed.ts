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
  listen(onItems: (items: FeedItem[]) => void, everything: boolean): () => void;
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
  addEventListener(type: string, handler: (event: { data: string; lastEventId: string }) => void): void;
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
  open: (query: { filter?: string; last_event_id?: string }) => Source;
  /** Resolves when the server is reachable and the member is signed in. */
  ready: (signal: AbortSignal) => Promise<void>;
  /** Items were lost: the page is outdated and has to reload its data. */
  onGap: () => void;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

type TabMessage =
  | { kind: 'items'; items: FeedItem[]; position: string }
  | { kind: 'state'; state: FeedState }
  | { kind: 'gap' }
  | { kind: 'want'; tab: string; everything: boolean }
  | { kind: 'hello' };

export function openFeed(deps: FeedDeps, name: string): Feed {
  const ended = new AbortController();
  const tab: Tab = {
    name,
    audience: createAudience(),
    otherTabs: new Set(),
    position: null,
    leading: null,
    signal: ended.signal,
    post: (message) => {
      if (!ended.signal.aborted) deps.channel.postMessage(message);
    },
  };
  const handlers = messageHandlers(deps, tab);
  deps.channel.onmessage = ({ data }) => {
    const message = data as TabMessage;
    handlers[message.kind](message as never);
  };
  // A closed page no longer waits for the lock.
  void deps.lock(() => lead(deps, tab), ended.signal).catch(() => undefined);
  tab.post({ kind: 'hello' });
  const { audience } = tab;
  return {
    listen: (onItems, everything) =>
      audience.listen(onItems, everything, () => {
        tab.post({ kind: 'want', tab: name, everything: audience.wantsAll() });
        tab.leading?.aim(wantsAll(tab));
      }),
    state: audience.state,
    subscribe: audience.subscribe,
    close() {
      if (audience.wantsAll()) tab.post({ kind: 'want', tab: name, everything: false });
      ended.abort();
      deps.channel.close();
    },
  };
}

type Tab = {
  name: string;
  audience: Audience;
  /** The other tabs that want everything. */
  otherTabs: Set<string>;
  /** The last known position, from this tab or a former leader. */
  position: string | null;
  leading: Connection | null;
  signal: AbortSignal;
  post: (message: TabMessage) => void;
};

function wantsAll({ audience, otherTabs }: Tab): boolean {
  return audience.wantsAll() || otherTabs.size > 0;
}

function receive(tab: Tab, items: FeedItem[], position: string): void {
  tab.position = position;
  tab.audience.deliver(items);
}

async function lead(deps: FeedDeps, tab: Tab): Promise<void> {
  tab.leading = connect(deps, {
    signal: tab.signal,
    everything: wantsAll(tab),
    position: () => tab.position,
    onItems: (items, position) => {
      receive(tab, items, position);
      tab.post({ kind: 'items', items, position });
    },
    onState: (state) => {
      tab.audience.setState(state);
      tab.post({ kind: 'state', state });
    },
    onGap: () => {
      deps.onGap();
      tab.post({ kind: 'gap' });
    },
  });
  tab.post({ kind: 'hello' });
  await tab.leading.ended;
}

type MessageHandlers = { [K in TabMessage['kind']]: (message: Extract<TabMessage, { kind: K }>) => void };

function messageHandlers(deps: FeedDeps, tab: Tab): MessageHandlers {
  return {
    items: ({ items, position }) => receive(tab, items, position),
    gap: deps.onGap,
    state: ({ state }) => tab.audience.setState(state),
    hello() {
      if (tab.leading) tab.post({ kind: 'state', state: tab.audience.state() });
      if (tab.audience.wantsAll()) tab.post({ kind: 'want', tab: tab.name, everything: true });
    },
    want({ tab: other, everything }) {
      if (everything) tab.otherTabs.add(other);
      else tab.otherTabs.delete(other);
      tab.leading?.aim(wantsAll(tab));
    },
  };
}

type ItemsListener = (items: FeedItem[]) => void;

type Audience = {
  listen: (onItems: ItemsListener, everything: boolean, changed: () => void) => () => void;
  deliver: ItemsListener;
  wantsAll: () => boolean;
  state: () => FeedState;
  setState: (state: FeedState) => void;
  subscribe: (changed: () => void) => () => void;
};

/** The listeners of this tab. */
function createAudience(): Audience {
  const listeners = new Map<ItemsListener, boolean>();
  const watchers = new Set<() => void>();
  let state: FeedState = 'reconnecting';
  const wantsAll = (): boolean => [...listeners.values()].includes(true);
  return {
    listen(onItems, everything, changed) {
      const before = wantsAll();
      listeners.set(onItems, everything);
      if (wantsAll() !== before) changed();
      return () => {
        const still = wantsAll();
        listeners.delete(onItems);
        if (wantsAll() !== still) changed();
      };
    },
    deliver(items) {
      for (const listener of listeners.keys()) listener(items);
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
