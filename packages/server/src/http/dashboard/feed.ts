import type { ServerResponse } from 'node:http';
import { Type } from 'typebox';
import type { FeedEnd } from '@beckon/contract/dashboard';
import { Fault } from '../../base/fault.ts';
import {
  countStream,
  type Cursor,
  cursorOf,
  findItem,
  followStream,
  momentOf,
  readStream,
  readStreamFilter,
  type StreamItem,
} from '../../features/stream/index.ts';
import { standardHeaders } from '../socket-errors.ts';
import { transportOf } from '../transport.ts';
import { toFeedItems } from './feed-items.ts';
import { type Asked, route, type RouteDeps, SENT } from './route.ts';

/** So that proxies between us do not take a quiet stream for a dead one. */
const ALIVE_EVERY_MS = 15_000;
/** How long a browser waits before it comes back. */
const RETRY_MS = 2_000;
/** Whoever was away for longer is told so, and looks at everything anew: a weekend's stream helps nobody. */
const RESUMED_MAX_MS = 15 * 60_000;
const FILTER = Type.Optional(Type.String({ maxLength: 1_000 }));
const PLACE = Type.String({ maxLength: 200 });
const LIMIT = 100;
const LIMIT_MAX = 500;
const COUNTED_MAX = 10_000;

export const feedRoutes = [
  route('GET /projects/:project/feed', {
    needs: 'viewer',
    query: Type.Object({ filter: FILTER, last_event_id: Type.Optional(PLACE) }),
    handle: feed,
  }),
  route('GET /projects/:project/stream', {
    needs: 'viewer',
    query: Type.Object({
      filter: FILTER,
      cursor: Type.Optional(PLACE),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
    }),
    async handle({ db, access }, { projectId, query }) {
      const filter = readStreamFilter(query.filter ?? '');
      const limit = query.limit ?? LIMIT;
      const page = await readStream(db, { projectId, filter, after: null, before: query.cursor, limit });
      const { count, isAll } = await countStream(db, { projectId, filter, most: COUNTED_MAX });
      return {
        data: await toFeedItems({ access }, page.items),
        meta: {
          pagination: { total: count, offset: 0, limit },
          cursor: page.more ? page.cursor : null,
          ...(isAll ? {} : { at_least: true as const }),
        },
      };
    },
  }),
  route('GET /projects/:project/stream/:place', {
    needs: 'viewer',
    async handle({ db, access }, { projectId, params: { place } }) {
      const found = await findItem(db, { projectId, place });
      if (!found) throw new Fault('not_found', { details: [{ message: NO_ITEM, field: 'place' }] });
      const [item] = await toFeedItems({ access }, [found]);
      if (!item) throw new Error('an item that was found is not shown');
      return { data: item };
    },
  }),
];

const NO_ITEM = 'There is no such item in the stream, or it is no longer kept';

async function feed(deps: RouteDeps, asked: Asked<'GET /projects/:project/feed'>): Promise<typeof SENT> {
  const { db, log, access } = deps;
  const { projectId, person, query, request, reply } = asked;
  const filter = readStreamFilter(query.filter ?? '');
  const { since, isGap } = placeToBegin(deps, asked);
  if (request.raw.method === 'HEAD') return endHead(asked);
  const ended = new AbortController();
  const response = reply.raw;
  const remove = deps.feeds.add({
    personId: person.id,
    async mayHear() {
      const now = await access.who(request.headers);
      return now?.id === person.id && (await hasRole(deps, { personId: person.id, projectId }));
    },
    end: (reason) => end(response, ended, reason),
  });
  reply.hijack();
  response.once('close', () => ended.abort());
  begin(response, standardHeaders(request.id, transportOf(deps.transport, request.raw)));
  if (isGap) response.write('event: gap\ndata: {}\n\n');
  const alive = setInterval(() => {
    // Whoever does not read is not written to.
    if (!response.writableNeedDrain) response.write(': alive\n\n');
  }, ALIVE_EVERY_MS);
  const onTrouble = (trouble: unknown): void => log.warn({ err: trouble, projectId }, 'feed.trouble');
  try {
    for await (const items of followStream({
      db,
      projectId,
      filter,
      since,
      signal: ended.signal,
      onTrouble,
    })) {
      const isTaken = response.write(await toEvents(deps, items));
      if (!isTaken) await drained(response, ended.signal);
    }
  } finally {
    clearInterval(alive);
    remove();
    response.end();
  }
  return SENT;
}

/** Whoever comes to lack what their organisation asks for, such as an authenticator app, has none. */
async function hasRole(
  { access }: RouteDeps,
  { personId, projectId }: { personId: string; projectId: number },
): Promise<boolean> {
  try {
    return (await access.roleIn(personId, projectId)) !== null;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** Behind the last item that was heard; or now. The header is what the browser heard last on this very feed. */
function placeToBegin(
  { db: { clock } }: RouteDeps,
  { query, request }: Asked<'GET /projects/:project/feed'>,
): { since: Date | Cursor; isGap: boolean } {
  const now = new Date(clock.now());
  const header = request.headers['last-event-id'];
  const last = typeof header === 'string' && header !== '' ? header : query.last_event_id;
  if (last === undefined || last === '') return { since: now, isGap: false };
  const isGap = momentOf(last).getTime() < clock.now() - RESUMED_MAX_MS;
  return { since: isGap ? now : last, isGap };
}

function endHead({ reply }: Asked<'GET /projects/:project/feed'>): typeof SENT {
  void reply.header('Content-Type', CONTENT_TYPE).send('');
  return SENT;
}

const CONTENT_TYPE = 'text/event-stream; charset=utf-8';

function begin(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(200, { ...headers, 'Content-Type': CONTENT_TYPE, 'X-Accel-Buffering': 'no' });
  response.write(`retry: ${RETRY_MS}\n\n`);
}

/** Says why, where somebody reads; who does not is cut off, for nothing may wait for them. */
function end(response: ServerResponse, ended: AbortController, reason: FeedEnd['reason']): void {
  ended.abort();
  if (response.writableNeedDrain) response.destroy();
  else if (!response.writableEnded) response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
}

async function toEvents(deps: RouteDeps, items: StreamItem[]): Promise<string> {
  const shown = await toFeedItems(deps, items);
  return shown.map((item) => `id: ${cursorOf(item)}\ndata: ${JSON.stringify(item)}\n\n`).join('');
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
