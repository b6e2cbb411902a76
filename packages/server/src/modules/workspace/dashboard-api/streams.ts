import type { FeedEnd, Raw, RouteKey } from '@beckon/contract/dashboard';
import type { FastifyReply } from 'fastify';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type RouteRequest, type KitDeps, SENT } from './route.ts';
import { standardHeaders } from '../../../platform/http/refuse-request.ts';
import { transportOf } from '../../../platform/http/transport.ts';

type Deps = KitDeps;

/** Keeps proxies from taking a quiet stream for a dead one. */
const ALIVE_EVERY_MS = 15_000;
/** How long a browser waits before it reconnects. */
const RETRY_MS = 2_000;
const CONTENT_TYPE = 'text/event-stream; charset=utf-8';

type EventStream = {
  /** True if the client was away for longer than events are kept; the stream says so. */
  isGap: boolean;
  /** The position at which the stream begins, in the form of its ids. A client that receives nothing before a disconnect resumes there. */
  position: string;
  /** Events as text, some at a time, until the signal aborts. */
  events: (signal: AbortSignal) => AsyncIterable<string>;
};

/** Serves server-sent events for as long as the caller would still be admitted. */
export async function serveEvents(
  deps: Deps,
  input: Pick<RouteRequest<RouteKey>, 'member' | 'request' | 'reply' | 'isStillIn'>,
  { isGap, position, events }: EventStream,
): Promise<typeof SENT> {
  const { member, request, reply } = input;
  if (request.raw.method === 'HEAD') {
    void reply.header('Content-Type', CONTENT_TYPE).send('');
    return SENT;
  }
  const response = reply.raw;
  // The client left while access was checked: `close` was emitted before there was a listener, and is not emitted again.
  if (response.destroyed) {
    reply.hijack();
    return SENT;
  }
  const ended = new AbortController();
  const remove = deps.feeds.add({
    memberId: member.id,
    mayHear: input.isStillIn,
    end: (reason) => end(response, ended, reason),
  });
  reply.hijack();
  response.once('close', () => ended.abort());
  begin(response, standardHeaders(request.id, transportOf(deps.transport, request.raw)));
  // An id without data makes no event; a reader that receives only events finds it in the comment.
  response.write(`retry: ${RETRY_MS}\nid: ${position}\n: place ${position}\n\n`);
  if (isGap) response.write('event: gap\ndata: {}\n\n');
  const alive = setInterval(() => {
    // A client that does not read gets no keep-alives.
    if (!response.writableNeedDrain) response.write(': alive\n\n');
  }, ALIVE_EVERY_MS);
  try {
    for await (const chunk of events(ended.signal)) {
      const hasCapacity = response.write(chunk);
      if (!hasCapacity) await drained(response, ended.signal);
    }
  } finally {
    clearInterval(alive);
    remove();
    response.end();
  }
  return SENT;
}

/**
 * Returns the last event id that the client received. The header is from this very stream; a browser may also pass its position on in the
 * query.
 */
export function lastEventId({ headers }: RouteRequest<RouteKey>['request'], cursor?: string): string | null {
  const header = headers['last-event-id'];
  const last = typeof header === 'string' && header !== '' ? header : cursor;
  return last === undefined || last === '' ? null : last;
}

function begin(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(200, { ...headers, 'Content-Type': CONTENT_TYPE, 'X-Accel-Buffering': 'no' });
}

/** Sends the reason to a client that reads. One that does not is disconnected, because nothing may wait for it. */
function end(response: ServerResponse, ended: AbortController, reason: FeedEnd['reason']): void {
  ended.abort();
  if (response.writableNeedDrain) response.destroy();
  else if (!response.writableEnded) response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
}

function drained(response: NodeJS.EventEmitter, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      response.off('drain', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    response.once('drain', finish);
    signal.addEventListener('abort', finish);
    if (signal.aborted) finish();
  });
}

type FileSent = { name: string; type: string };

/** Sends a file piece by piece, as fast as the browser reads it. A client that disconnects ends it. */
export async function sendPieces(
  reply: FastifyReply,
  { name, type }: FileSent,
  pieces: AsyncIterable<string | Uint8Array> | (string | Uint8Array)[],
): Promise<Raw> {
  reply.hijack();
  const response = reply.raw;
  response.writeHead(200, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return SENT;
      if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
    response.end();
  } catch (error) {
    // The client left, and its statement was canceled.
    if (response.destroyed) return SENT;
    // Half of a file must not look like all of it.
    response.destroy();
    throw error;
  }
  return SENT;
}
