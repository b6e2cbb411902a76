import { useQueryClient } from '@tanstack/react-query';
import type { FeedItem } from '@beckon/contract/dashboard';
import { createContext, type ReactNode, use, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { apiUrl, call } from './client.ts';
import { type Channel, type Feed, type FeedDeps, type FeedState, openFeed, type Source } from './feed.ts';
import { useProjectIfAny, useSignIn } from './provider.tsx';
import type { SignIn } from './sign-in.ts';

const FeedContext = createContext<Feed | null>(null);

/** The feed of this page's project, for all components below. */
export function FeedProvider({ children }: { children: ReactNode }): ReactNode {
  const project = useProjectIfAny()?.id;
  const signIn = useSignIn();
  const client = useQueryClient();
  const [feed, setFeed] = useState<Feed | null>(null);
  useEffect(() => {
    if (project === undefined) return undefined;
    const onGap = (): void => void client.invalidateQueries();
    const opened = openFeed(depsOf({ project, signIn, onGap }), tabName());
    setFeed(opened);
    return () => {
      opened.close();
      setFeed(null);
    };
  }, [project, signIn, client]);
  return <FeedContext value={feed}>{children}</FeedContext>;
}

/**
 * Receives the matching items in batches. Events, requests and changes of users arrive only with `everything`.
 */
export function useFeed(
  matches: (item: FeedItem) => boolean,
  onItems: (items: FeedItem[]) => void,
  { everything = false, enabled = true }: { everything?: boolean; enabled?: boolean } = {},
): void {
  const feed = use(FeedContext);
  const latest = useRef({ matches, onItems });
  useEffect(() => {
    latest.current = { matches, onItems };
  });
  useEffect(() => {
    if (!enabled) return undefined;
    return feed?.listen((items) => {
      const mine = items.filter((item) => latest.current.matches(item));
      if (mine.length > 0) latest.current.onItems(mine);
    }, everything);
  }, [feed, everything, enabled]);
}

export function useFeedState(): FeedState {
  const feed = use(FeedContext);
  return useSyncExternalStore(
    (changed) => feed?.subscribe(changed) ?? (() => {}),
    () => feed?.state() ?? 'reconnecting',
  );
}

function depsOf(of: { project: number; signIn: SignIn; onGap: () => void }): FeedDeps {
  const { project, signIn, onGap } = of;
  const name = `beckon-feed-${project}`;
  return {
    channel: new BroadcastChannel(name) as Channel,
    lock: async (lead, signal) => {
      // The type says that it always exists, but it is missing on pages without HTTPS outside of loopback.
      const locks = navigator.locks as LockManager | undefined;
      await (locks ? locks.request(name, { signal }, lead) : lead());
    },
    open: (query) =>
      new EventSource(apiUrl('GET /projects/:project/feed', { params: { project }, query })) as Source,
    ready: async (signal) => {
      // EventSource does not expose why it was refused. Any other call does, and opens the sign-in dialog if needed.
      for (let isReady = false; !isReady;) {
        isReady = await call('GET /projects', {}, { signal, signIn }).then(
          () => true,
          () => false,
        );
        if (!isReady) await wait(3_000, signal);
      }
    },
    onGap,
    wait,
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

/** Not `randomUUID`, which is missing on pages without TLS. */
function tabName(): string {
  return crypto.getRandomValues(new Uint32Array(3)).join('-');
}
