import {
  type EventDetails,
  type EventDrift,
  type EventListed,
  FILTER_KEYS,
  type ListResponse,
  type SortOf,
} from '@beckon/contract/dashboard';
import { type FilteredItem, matches, WORDS, wordsText } from '../../platform/filter/filter.ts';
import { readFilter } from '../../platform/filter/parse.ts';
import { type CatalogueName, listCatalogue, listSamples } from './event-catalog.ts';
import { findUses, type ListRuleNeeds, type Uses } from './uses.ts';
import { deleteExpected, upsertExpected } from './expected-store.ts';
import {
  type CsvColumns,
  type DashboardRoute,
  type KitDeps,
  type ListQuery,
  pageOfAll,
  routesFor,
  sendCsv,
} from '../workspace/index.ts';
import { Fault } from '../../platform/fault.ts';
import { iso } from '../../platform/time/clock.ts';

type Deps = KitDeps & { listRuleNeeds: ListRuleNeeds };
const { route } = routesFor<Deps>();

const SAMPLES = 20;
const NEWEST_MAX = 5;
const EXAMPLES = 5;

export const eventRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/events', {
    needs: 'viewer',
    handle: (deps, { projectId, query }) => eventPage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/events.csv', {
    needs: 'viewer',
    isHeavy: true,
    slot: 'statement',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'events.csv',
        columns: CSV_COLUMNS,
        load: (page) => eventPage(deps, { projectId, ...query, ...page }),
      }),
  }),
  route('GET /projects/:project/events/:event', {
    needs: 'viewer',
    async handle(deps, { projectId, params }) {
      const found = await findName(deps, projectId, params.event);
      const listed = await findEventSummary(deps, projectId, found);
      return { data: { ...listed, ...(await samplesOf(deps, projectId, found)) } };
    },
  }),
  route('PUT /projects/:project/events/:event/expected', {
    needs: 'editor',
    audit: 'event.expect',
    async handle(deps, { projectId, params, actor, note }) {
      const { db } = deps;
      const { name } = await findName(deps, projectId, params.event);
      await upsertExpected(db, { projectId, name, at: db.clock.now(), by: actor });
      note({ subject: name });
      return { data: await findEventSummary(deps, projectId, await findName(deps, projectId, name)) };
    },
  }),
  route('DELETE /projects/:project/events/:event/expected', {
    needs: 'editor',
    audit: 'event.ignore_changes',
    async handle(deps, { projectId, params, note }) {
      const { name } = await findName(deps, projectId, params.event);
      await deleteExpected(deps.db, projectId, name);
      note({ subject: name });
      return { data: await findEventSummary(deps, projectId, await findName(deps, projectId, name)) };
    },
  }),
];

type EventsQuery = ListQuery & { projectId: number; filter?: string; sort?: SortOf<'events'> };

async function eventPage(
  deps: Deps,
  { projectId, filter: text, sort = '-recent', ...page }: EventsQuery,
): Promise<ListResponse<EventListed>> {
  const filter = readFilter(text, FILTER_KEYS.events);
  const names = await listCatalogue(deps.db, { projectId, now: deps.db.clock.now() });
  const rows = await eventSummaries(deps, projectId, names);
  const found = rows.filter((event) => matches(filter, filteredItem(event)));
  return pageOfAll(sorted(found, sort), page);
}

function filteredItem({ name, properties, canonical, expected, drift }: EventListed): FilteredItem {
  const property = properties.map((each) => each.property);
  const changes = drift.map(({ kind }) => (kind === 'stopped' ? 'stopped' : 'changed'));
  return {
    name,
    property,
    canonical: canonical ? 'yes' : 'no',
    expected: expected === null ? 'no' : 'yes',
    drift: changes.length === 0 ? 'none' : changes,
    [WORDS]: wordsText([name, ...property]),
  };
}

const KEYS: Record<'name' | 'recent' | 'first' | 'last', (event: EventListed) => string | number> = {
  name: ({ name }) => name,
  recent: ({ last_30_days: recent }) => recent,
  first: ({ first_at: at }) => at,
  last: ({ last_at: at }) => at,
};

/** The catalog is by frequency, so events with equal keys stay in this order. */
function sorted(rows: EventListed[], sort: SortOf<'events'>): EventListed[] {
  if (sort === '-recent') return rows;
  const keyOf = KEYS[sort.replace('-', '') as keyof typeof KEYS];
  const direction = sort.startsWith('-') ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return x === y ? 0 : x < y ? -direction : direction;
  });
}

const CSV_COLUMNS: CsvColumns<EventListed> = {
  name: ({ name }) => name,
  canonical: ({ canonical }) => canonical,
  expected: ({ expected }) => expected !== null,
  drift: ({ drift }) => [...new Set(drift.map(({ kind }) => kind))].join(' '),
  count: ({ count }) => count,
  last_30_days: ({ last_30_days: recent }) => recent,
  properties: ({ properties }) => properties.map(({ property }) => property).join(', '),
  first_at: ({ first_at: at }) => at,
  last_at: ({ last_at: at }) => at,
};

async function findName({ db }: Deps, projectId: number, name: string): Promise<CatalogueName> {
  const isStorable = !name.includes('\0') && name.isWellFormed();
  const [found] = isStorable ? await listCatalogue(db, { projectId, now: db.clock.now(), name }) : [];
  if (found) return found;
  const message = `This project has no event ${JSON.stringify(name)}`;
  throw new Fault('not_found', { details: [{ message, field: 'event' }] });
}

async function findEventSummary(deps: Deps, projectId: number, found: CatalogueName): Promise<EventListed> {
  const [listed] = await eventSummaries(deps, projectId, [found]);
  if (!listed) throw new Error('an event that was found is not listed');
  return listed;
}

async function eventSummaries(
  { db, access, listRuleNeeds }: Deps,
  projectId: number,
  names: CatalogueName[],
): Promise<EventListed[]> {
  const now = db.clock.now();
  const uses = await findUses({ db, listRuleNeeds }, { projectId, now });
  const people = await access.namesOf([
    ...new Set(names.flatMap(({ expected }) => expected?.markedBy ?? [])),
  ]);
  return names.map((name) => eventSummary(name, { uses, people, now }));
}

type SummaryContext = { uses: Uses; people: ReadonlyMap<string, string>; now: number };

function eventSummary(name: CatalogueName, { uses, people, now }: SummaryContext): EventListed {
  const { expected, firstAt, lastAt, days, properties, ...same } = name;
  return {
    ...same,
    days,
    last_30_days: days.reduce((sum, count) => sum + count, 0),
    first_at: iso(firstAt),
    last_at: iso(lastAt),
    properties: properties.map(({ property, types }) => ({
      property,
      types: types.map(({ type }) => type),
      conflict: types.filter(({ type }) => type !== 'null').length > 1,
      first_at: iso(Math.min(...types.map((type) => type.firstAt))),
      last_at: iso(Math.max(...types.map((type) => type.lastAt))),
    })),
    expected: expected && {
      since: iso(expected.since),
      by: people.get(expected.markedBy) ?? expected.markedBy,
    },
    drift: expected === null ? [] : driftOf(expected.since, name, now).map(toDrift),
    used_by: uses.events.get(name.name) ?? [],
  };
}

function toDrift(drift: Drift): EventDrift {
  if (drift.kind === 'stopped') {
    const { kind, lastAt, usualEveryMs } = drift;
    return { kind, last_at: iso(lastAt), usual_every_ms: usualEveryMs };
  }
  return { ...drift, since: iso(drift.since) };
}

async function samplesOf(
  { db }: Deps,
  projectId: number,
  { name, lastAt, properties }: CatalogueName,
): Promise<Pick<EventDetails, 'examples' | 'newest'>> {
  const found = await listSamples(db, { projectId, name, lastAt, limit: SAMPLES });
  return {
    examples: properties.map(({ property }) => ({
      property,
      values: distinct(found.flatMap((event) => valueIn(event.properties, property))).slice(0, EXAMPLES),
    })),
    newest: found.slice(0, NEWEST_MAX).map((event) => ({
      id: event.id,
      external_user_id: event.userId,
      occurred_at: iso(event.occurredAt),
      properties: event.properties,
    })),
  };
}

function valueIn(properties: Record<string, unknown>, property: string): unknown[] {
  return Object.hasOwn(properties, property) ? [properties[property]] : [];
}

function distinct(values: unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** A deviation of an expected event. Times are in milliseconds. */
type Drift =
  | { kind: 'stopped'; lastAt: number; usualEveryMs: number }
  | { kind: 'new_property'; property: string; since: number }
  | { kind: 'new_type'; property: string; type: string; since: number };

type EventHistory = {
  lastAt: number;
  /** The number of events on each of the last 30 days, ending today. */
  days: number[];
  properties: { property: string; types: { type: string; firstAt: number }[] }[];
};

const DAY_MS = 86_400_000;
/** Neither a quiet night nor a gap close to the usual one is an alarm. */
const QUIET_MIN_MS = DAY_MS;
const QUIET_TIMES = 5;

/** Lists deviations since the event was marked as expected. Marking it again makes its current form the expected one. */
export function driftOf(since: number, history: EventHistory, now: number): Drift[] {
  return [
    ...stoppedDrift(history, now),
    ...history.properties.flatMap((property) => changedDrift(property, since)),
  ];
}

/** Reports nothing for an event with fewer than two occurrences in a month, because it has no usual interval. */
function stoppedDrift({ lastAt, days }: EventHistory, now: number): Drift[] {
  const count = days.reduce((sum, dayCount) => sum + dayCount, 0);
  if (count < 2) return [];
  const first = days.findIndex((dayCount) => dayCount > 0);
  const span = Math.max(lastAt - (now - (days.length - first) * DAY_MS), DAY_MS);
  const usualEveryMs = Math.round(span / count);
  const isQuiet = now - lastAt > Math.max(QUIET_MIN_MS, usualEveryMs * QUIET_TIMES);
  return isQuiet ? [{ kind: 'stopped', lastAt, usualEveryMs }] : [];
}

/** A value that is sometimes missing does not count as another type. */
function changedDrift({ property, types }: EventHistory['properties'][number], since: number): Drift[] {
  const fresh = types.filter(({ firstAt }) => firstAt > since);
  const [first] = fresh;
  if (!first) return [];
  if (fresh.length === types.length)
    return [{ kind: 'new_property', property, since: Math.min(...fresh.map(({ firstAt }) => firstAt)) }];
  return fresh
    .filter(({ type }) => type !== 'null')
    .map(({ type, firstAt }) => ({ kind: 'new_type', property, type, since: firstAt }));
}
