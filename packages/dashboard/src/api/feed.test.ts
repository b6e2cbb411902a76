import type { FeedItem } from '@beckon/contract/dashboard';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Channel, type Feed, openFeed, type Source } from './feed.ts';

/** A browser with any number of tabs: one lock, one channel, and connections that the test controls. */
function browser() {
  const channels = new Set<Channel & { id: number }>();
  const queue: (() => void)[] = [];
  const sources: FakeSource[] = [];
  const gaps: string[] = [];
  let isLocked = false;
  let ids = 0;
  const lockNext = (): void => {
    const next = isLocked ? undefined : queue.shift();
    if (next) isLocked = true;
    next?.();
  };
  const tab = (name: string): Feed => {
    const id = (ids += 1);
    const channel: Channel & { id: number } = {
      id,
      onmessage: null,
      postMessage(data) {
        for (const other of channels)
          if (other.id !== id) other.onmessage?.({ data: structuredClone(data) } as MessageEvent);
      },
      close: () => channels.delete(channel),
    };
    channels.add(channel);
    return openFeed(
      {
        channel,
        lock: (lead, signal) =>
          new Promise((resolve) => {
            const start = (): void => {
              if (signal.aborted) {
                isLocked = false;
                lockNext();
                return;
              }
              void lead().then(() => {
                isLocked = false;
                resolve();
                lockNext();
              });
            };
            queue.push(start);
            lockNext();
          }),
        open: (query) => {
          const source = new FakeSource(query);
          sources.push(source);
          return source;
        },
        ready: () => Promise.resolve(),
        onGap: () => gaps.push(name),
        wait: () => Promise.resolve(),
      },
      name,
    );
  };
  return { tab, sources, gaps, open: () => sources.filter(({ readyState }) => readyState !== 2) };
}

class FakeSource implements Source {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readyState = 0;
  readonly query: { filter?: string; last_event_id?: string };
  private readonly handlers = new Map<string, (event: { data: string; lastEventId: string }) => void>();

  constructor(query: { filter?: string; last_event_id?: string }) {
    this.query = query;
  }
  addEventListener(type: string, handler: (event: { data: string; lastEventId: string }) => void): void {
    this.handlers.set(type, handler);
  }
  close(): void {
    this.readyState = 2;
  }
  connected(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  say(position: string, type: FeedItem['type'] = 'draft_changed'): void {
    const data = JSON.stringify({ id: position, at: '2026-11-22T00:00:00.000Z', type, place: position });
    this.handlers.get('message')?.({ data, lastEventId: position });
  }
  emit(type: 'gap' | 'end', data: object = {}): void {
    this.handlers.get(type)?.({ data: JSON.stringify(data), lastEventId: '' });
  }
}

function listenTo(feed: Feed, everything = false) {
  const ids: string[] = [];
  const stop = feed.listen((items) => ids.push(...items.map(({ id }) => id)), everything);
  return { ids, stop };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('tabs of a browser', () => {
  it('tabs of a browser', () => {
    const { tab, sources } = browser();
    const [a, b] = [listenTo(tab('a')), listenTo(tab('b'))];
    expect(sources).toHaveLength(1);
    sources[0]?.connected();
    sources[0]?.say('1');
    sources[0]?.say('2');
    vi.advanceTimersByTime(100);
    expect([a.ids, b.ids]).toEqual([
      ['1', '2'],
      ['1', '2'],
    ]);
  });

  it('continue after the last known position when the leading tab closes', async () => {
    const { tab, sources, open } = browser();
    const first = tab('a');
    const second = tab('b');
    const { ids } = listenTo(second);
    sources[0]?.say('7');
    vi.advanceTimersByTime(100);
    first.close();
    await vi.waitFor(() => expect(sources).toHaveLength(2));
    expect(open()).toHaveLength(1);
    expect(sources[1]?.query.last_event_id).toBe('7');
    sources[1]?.say('8');
    vi.advanceTimersByTime(100);
    expect(ids).toEqual(['7', '8']);
  });

  it('all get the state of the connection, also tabs opened later', () => {
    const { tab, sources } = browser();
    const [a, b] = [tab('a'), tab('b')];
    sources[0]?.connected();
    expect([a.state(), b.state()]).toEqual(['live', 'live']);
    expect(tab('c').state()).toBe('live');
    sources[0]?.onerror?.();
    expect([a.state(), b.state()]).toEqual(['reconnecting', 'reconnecting']);
  });

  it('request everything only while a tab needs it, and miss nothing when that changes', () => {
    const { tab, sources, open } = browser();
    tab('a');
    const b = tab('b');
    expect(sources[0]?.query.filter).toContain('draft_changed');
    sources[0]?.say('3');
    const live = listenTo(b, true);
    expect(sources).toHaveLength(2);
    expect(sources[1]?.query).toEqual({ last_event_id: '3' });
    live.stop();
    expect(sources[2]?.query.filter).toContain('draft_changed');
    expect(open()).toHaveLength(1);
  });

  it('are all notified of a gap, so that they reload their data', () => {
    const { tab, sources, gaps } = browser();
    tab('a');
    tab('b');
    sources[0]?.emit('gap');
    expect(gaps).toEqual(['a', 'b']);
  });
});

describe('connection', () => {
  it('reopens after a rejection or an end by the server', async () => {
    const { tab, sources } = browser();
    const feed = tab('a');
    sources[0]?.connected();
    sources[0]?.emit('end', { reason: 'stopping' });
    expect(feed.state()).toBe('reconnecting');
    await vi.waitFor(() => expect(sources).toHaveLength(2));
    sources[1]?.close();
    sources[1]?.onerror?.();
    await vi.waitFor(() => expect(sources).toHaveLength(3));
  });

  it('leaves reconnecting after an interruption to EventSource, and opens no second connection', async () => {
    const { tab, sources } = browser();
    tab('a');
    sources[0]?.onerror?.();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sources).toHaveLength(1);
  });

  it('reports a gap after reconnecting without a known position', async () => {
    const { tab, sources, gaps } = browser();
    tab('a');
    sources[0]?.connected();
    expect(gaps).toEqual([]);
    sources[0]?.onerror?.();
    sources[0]?.connected();
    expect(gaps).toEqual(['a']);
    sources[0]?.emit('end', { reason: 'stopping' });
    await vi.waitFor(() => expect(sources).toHaveLength(2));
    sources[1]?.connected();
    expect(gaps).toEqual(['a', 'a']);

    sources[1]?.say('4');
    vi.advanceTimersByTime(100);
    sources[1]?.onerror?.();
    sources[1]?.connected();
    expect(gaps).toHaveLength(2);
  });
});
