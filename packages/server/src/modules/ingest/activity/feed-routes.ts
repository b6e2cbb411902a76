import type { FeedItem, FeedType } from '@beckon/contract/dashboard';
import { type FollowOptions, followStream } from './follow-stream.ts';
import { findStartedRules } from './started-rules.ts';
import { countStream, findItem, readStream } from './read-stream.ts';
import {
  type Cursor,
  cursorOf,
  cursorOfTime,
  momentOf,
  readStreamFilter,
  type StreamItem,
} from './stream.ts';
import {
  type Access,
  type RouteRequest,
  findPair,
  type KitDeps,
  lastEventId,
  readMoment,
  routesFor,
  type SENT,
  serveEvents,
} from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import { readProjectLock } from '../../../platform/locks/project-lock.ts';

type Deps = KitDeps;
const { route } = routesFor<Deps>();

/** A client that was away for longer gets a gap and loads everything again: the stream of a weekend helps no reader. */
const RESUMED_MAX_MS = 15 * 60_000;

const LIMIT = 100;

const COUNTED_MAX = 10_000;

export const feedRoutes = [
  route('GET /projects/:project/feed', {
    slot: 'statement',
    needs: 'viewer',
    handle: feed,
  }),
  route('GET /projects/:project/stream', {
    needs: 'viewer',
    async handle({ db, access }, { projectId, query }) {
      const filter = readStreamFilter(query.filter ?? '');
      const limit = query.limit ?? LIMIT;
      const since = query.since === undefined ? undefined : new Date(readMoment(query.since, 'since'));
      const range = { projectId, filter, since };
      const page = await readStream(db, { ...range, after: null, before: query.cursor, limit });
      const { count, isAll } = await countStream(db, { ...range, most: COUNTED_MAX });
      return {
        data: await toFeedItems({ db, access }, { projectId, items: page.items }),
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
      const found = await findItem(db, { projectId, cursor: place });
      if (!found) throw new Fault('not_found', { details: [{ message: NO_ITEM, field: 'place' }] });
      const [item] = await toFeedItems({ db, access }, { projectId, items: [found] });
      if (!item) throw new Error('an item that was found is not shown');
      return { data: item };
    },
  }),
];

const NO_ITEM = 'The stream has no item with this ID, or it is no longer stored';

async function feed(deps: Deps, request: RouteRequest<'GET /projects/:project/feed'>): Promise<typeof SENT> {
  const { db, log } = deps;
  const { projectId, query } = request;
  const filter = readStreamFilter(query.filter ?? '');
  const { since, isGap } = startPosition(deps, request);
  const onFailure = (error: unknown): void =>
    log.warn({ err: error, project_id: projectId }, 'activity_feed.failed');
  const source = await streamSource(db, projectId);
  async function* events(signal: AbortSignal): AsyncGenerator<string> {
    for await (const items of followStream({ ...source, projectId, filter, since, signal, onFailure }))
      yield await toEvents(deps, { projectId, items });
  }
  const cursor = since instanceof Date ? cursorOfTime(since) : since;
  return serveEvents(deps, request, { isGap, position: cursor, events });
}

/** The clock of a sandbox may move while a feed is open, so it is read before each poll. */
async function streamSource(
  db: Database,
  projectId: number,
): Promise<Pick<FollowOptions, 'db' | 'beforeLook'>> {
  if ((await findPair(db, projectId)).livemode) return { db };
  let { aheadMs } = db;
  return {
    db: { ...db, clock: { now: () => db.clock.now() + aheadMs - db.aheadMs } },
    async beforeLook() {
      ({ aheadMs } = await readProjectLock(db, projectId));
    },
  };
}

/** Returns the position after the last item received, or now. */
function startPosition(
  { db: { clock } }: Deps,
  { query, request }: RouteRequest<'GET /projects/:project/feed'>,
): { since: Date | Cursor; isGap: boolean } {
  const now = new Date(clock.now());
  const last = lastEventId(request, query.last_event_id);
  if (last === null) return { since: now, isGap: false };
  const isGap = momentOf(last).getTime() < clock.now() - RESUMED_MAX_MS;
  return { since: isGap ? now : last, isGap };
}

type ItemsOfProject = { projectId: number; items: StreamItem[] };

async function toEvents(deps: Deps, ofProject: ItemsOfProject): Promise<string> {
  const feedItems = await toFeedItems(deps, ofProject);
  return feedItems.map((item) => `id: ${cursorOf(item)}\ndata: ${JSON.stringify(item)}\n\n`).join('');
}

/** Returns the items as the dashboard shows them: with their positions, the names of the actors, and the rules that an event started. */
async function toFeedItems(
  { db, access }: { db: Tx; access: Pick<Access, 'namesOf'> },
  { projectId, items }: ItemsOfProject,
): Promise<FeedItem[]> {
  const actors = new Set(items.map(actorOf).filter((actor) => actor !== null));
  const names = actors.size === 0 ? NO_NAMES : await access.namesOf([...actors]);
  const started = await findStartedRules(db, { projectId, items });
  return items.map((item) => {
    const name = names.get(actorOf(item) ?? '');
    const rules = item.type === 'event' ? started.get(item.id) : undefined;
    const feedItem = {
      ...item,
      ...(rules ? { started: rules } : {}),
      type: item.type as FeedType,
      place: cursorOf(item),
    };
    return (name === undefined ? feedItem : { ...feedItem, actor_name: name }) as FeedItem;
  });
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function actorOf(item: StreamItem): string | null {
  return 'actor' in item && typeof item.actor === 'string' ? item.actor : null;
}
