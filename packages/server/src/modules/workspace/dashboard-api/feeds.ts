import type { FeedEnd } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';

/** An open feed, with all that is needed to end it. */
export type OpenFeed = {
  memberId: string;
  /** Resolves to whether its member may still receive it. */
  mayHear: () => Promise<boolean>;
  end: (reason: FeedEnd['reason']) => void;
};

/** All feeds of a process. */
export type Feeds = {
  /** Adds a feed, and ends the oldest one of a member with too many. Returns the function that removes it. */
  add(feed: OpenFeed): () => void;
  /** Ends the feeds of members who may no longer receive them. */
  check(): Promise<void>;
  count(): number;
  /** Ends all feeds and takes no more: a server that stops does not wait for listeners. */
  stop(): void;
};

/** A browser has one, whatever its tabs. Some are left over from connections whose end was never noticed. */
const PER_MEMBER_MAX = 8;
const TOTAL_MAX = 1_000;
const CHECK_EVERY_MS = 30_000;
const FULL_RETRY_S = 30;

export function createFeeds(): Feeds {
  const open = new Set<OpenFeed>();
  let isStopped = false;
  let timer: NodeJS.Timeout | null = null;

  function close(feed: OpenFeed, reason: FeedEnd['reason']): void {
    open.delete(feed);
    feed.end(reason);
  }

  async function check(): Promise<void> {
    for (const feed of open) {
      // A failed database query ends no feed: the next check runs it again.
      const may = await feed.mayHear().catch(() => true);
      if (!may) close(feed, 'signed_out');
    }
  }

  function plan(): void {
    if (timer || open.size === 0) return;
    timer = setTimeout(() => {
      timer = null;
      void check().finally(plan);
    }, CHECK_EVERY_MS).unref();
  }

  return {
    add(feed) {
      if (isStopped || open.size >= TOTAL_MAX) throw full();
      const theirs = [...open].filter(({ memberId }) => memberId === feed.memberId);
      for (const old of theirs.slice(0, Math.max(0, theirs.length - PER_MEMBER_MAX + 1)))
        close(old, 'too_many');
      open.add(feed);
      plan();
      return () => {
        open.delete(feed);
        if (open.size > 0 || !timer) return;
        clearTimeout(timer);
        timer = null;
      };
    },
    check,
    count: () => open.size,
    stop() {
      isStopped = true;
      for (const feed of open) close(feed, 'stopping');
    },
  };
}

function full(): Fault {
  const message = 'This server has the maximum number of open streams. Close one, then try again';
  return new Fault('rate_limited', { details: [{ message }], retryAfterS: FULL_RETRY_S });
}
