import type { ServerResponse } from 'node:http';
import type { FeedEnd, RouteKey } from '@beckon/contract/dashboard';
import { standardHeaders } from '../socket-errors.ts';
import { transportOf } from '../transport.ts';
import { type Asked, type RouteDeps, SENT } from './route.ts';

/** So that proxies between us do not take a quiet stream for a dead one. */
const ALIVE_EVERY_MS = 15_000;
/** How long a browser waits before it comes back. */
const RETRY_MS = 2_000;
const CONTENT_TYPE = 'text/event-stream; charset=utf-8';

export type EventStream = {
  /** They were away for longer than is kept for them, and are told so. */
  isGap: boolean;
  /** Where it begins, in the words of its ids: whoever is told nothing before it breaks comes back there. */
  place: string;
  /** Events as they are written, some at a time, until the signal is given. */
  events: (signal: AbortSignal) => AsyncIterable<string>;
};

/** Server-sent events for as long as whoever asked would still come in. */
export async function serveEvents(
  deps: RouteDeps,
  asked: Pick<Asked<RouteKey>, 'person' | 'request' | 'reply' | 'isStillIn'>,
  { isGap, place, events }: EventStream,
): Promise<typeof SENT> {
  const { person, request, reply } = asked;
  if (request.raw.method === 'HEAD') {
    void reply.header('Content-Type', CONTENT_TYPE).send('');
    return SENT;
  }
  const response = reply.raw;
  // Who left while they were let in: their `close` was told before anybody heard of it, and is not told again.
  if (response.destroyed) {
    reply.hijack();
    return SENT;
  }
  const ended = new AbortController();
  const remove = deps.feeds.add({
    personId: person.id,
    mayHear: asked.isStillIn,
    end: (reason) => end(response, ended, reason),
  });
  reply.hijack();
  response.once('close', () => ended.abort());
  begin(response, standardHeaders(request.id, transportOf(deps.transport, request.raw)));
  // An id without data makes no event; a reader that hears of events alone finds it in the comment.
  response.write(`retry: ${RETRY_MS}\nid: ${place}\n: place ${place}\n\n`);
  if (isGap) response.write('event: gap\ndata: {}\n\n');
  const alive = setInterval(() => {
    // Whoever does not read is not written to.
    if (!response.writableNeedDrain) response.write(': alive\n\n');
  }, ALIVE_EVERY_MS);
  try {
    for await (const some of events(ended.signal)) {
      const isTaken = response.write(some);
      if (!isTaken) await drained(response, ended.signal);
    }
  } finally {
    clearInterval(alive);
    remove();
    response.end();
  }
  return SENT;
}

/** What was heard last. The header is what they heard on this very stream; a browser may hand its place on in the query too. */
export function lastHeard({ headers }: Asked<RouteKey>['request'], said?: string): string | null {
  const header = headers['last-event-id'];
  const last = typeof header === 'string' && header !== '' ? header : said;
  return last === undefined || last === '' ? null : last;
}

function begin(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(200, { ...headers, 'Content-Type': CONTENT_TYPE, 'X-Accel-Buffering': 'no' });
}

/** Says why, where somebody reads; who does not is cut off, for nothing may wait for them. */
function end(response: ServerResponse, ended: AbortController, reason: FeedEnd['reason']): void {
  ended.abort();
  if (response.writableNeedDrain) response.destroy();
  else if (!response.writableEnded) response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
}

function drained(response: NodeJS.EventEmitter, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
