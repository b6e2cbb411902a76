import type { TSchema } from 'typebox';
import type { DashboardRoute, RouteRules } from './route.ts';
import {
  createFairQueue,
  type EnterOptions,
  type FairQueue,
  QueueFull,
} from '../../../platform/async/fair-queue.ts';
import { CONNECTIONS } from '../../../platform/db/connections.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isCanceled } from '../../../platform/db/errors.ts';
import { Fault } from '../../../platform/fault.ts';

/**
 * Light requests take turns by statement or transaction. One connection is left for statements without a turn: access checks and
 * audit entries. A single project never has all others, so another project finds a free one.
 */
const LIGHT = { atOnce: CONNECTIONS.pages - 1, atOncePerKey: 2, slots: 2_000, slotsPerKey: 200 };
/** Backtests use the remaining connections for heavy requests (`rules/backtest/backtest.ts`). */
const HEAVY = { atOnce: 3, atOncePerKey: 2, slots: 80, slotsPerKey: 20 };
/** A queue of its own, because the server of an image may be slow and the database is idle while it answers. */
const IMAGES = { atOnce: 2, atOncePerKey: 1, slots: 80, slotsPerKey: 20 };
const BUSY_RETRY_S = 5;

type GatedRequest = {
  route: Pick<DashboardRoute, 'slot'>;
  /** The key of its queue: the project, or the member if the path names no project. */
  key: number | string;
  cost: Cost;
  /** The first field that made it heavy. */
  field: string | undefined;
  /** Aborts when the request ends. Absent for a change, which runs to its end. */
  signal: AbortSignal | undefined;
};

/** Runs a request with the connections of its cost, after its project got a turn. */
export type RequestGate = <T>(request: GatedRequest, work: (db: Database) => Promise<T>) => Promise<T>;

type Queues = { light: FairQueue; heavy: FairQueue; images: FairQueue };

export function createRequestGate(db: Database): RequestGate {
  const queues = {
    light: createFairQueue(LIGHT),
    heavy: createFairQueue(HEAVY),
    images: createFairQueue(IMAGES),
  };
  return async (request, work) => {
    if (request.cost === 'heavy') return runHeavy(db, { queues, request }, work);
    const leave = request.cost === 'images' ? await enter(queues.images, request) : nothing;
    return work(lightConnections(db, { queues, request })).finally(leave);
  };
}

type GateInput = { queues: Queues; request: GatedRequest };

function lightConnections(db: Database, { queues, request }: GateInput): Database {
  let hasBegun = false;
  async function takeSlot(): Promise<() => void> {
    // A request that ran a statement may have changed something, so it is no longer refused.
    const leave = await enter(queues.light, request, { isPatient: hasBegun });
    hasBegun = true;
    return leave;
  }
  return db.forPages({ cost: 'light', takeSlot, ...endOf(request) });
}

async function runHeavy<T>(
  db: Database,
  { queues: { heavy }, request }: GateInput,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const { route, field, signal } = request;
  const { slot = 'request' } = route;
  const leave = slot === 'request' ? await enter(heavy, request) : nothing;
  // A request with a turn of its own runs its statements one after another. Otherwise two requests could take all connections.
  const serialQueue = createFairQueue({ atOnce: 1 });
  const slots = {
    request: { takeSlot: () => enter(serialQueue, request) },
    statement: { takeSlot: () => enter(heavy, request, { isPatient: true }) },
    own: {},
  };
  try {
    return await work(db.forPages({ cost: 'heavy', ...endOf(request), ...slots[slot] }));
  } catch (error) {
    // A request that changes something may have changed a part of it, so this is not a refusal.
    throw signal && isCanceled(error) ? tooLong(field, error) : error;
  } finally {
    leave();
  }
}

function endOf({ signal }: GatedRequest): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}

function nothing(): void {}

async function enter(
  queue: FairQueue,
  { key, signal }: GatedRequest,
  options: EnterOptions = {},
): Promise<() => void> {
  try {
    return await queue.enter(key, { ...options, signal });
  } catch (error) {
    throw error instanceof QueueFull ? busy('Too many requests of this project are waiting.', error) : error;
  }
}

/** Answered with 503 and `Retry-After`. */
export function busy(reason: string, cause: unknown): Fault {
  const message = `${reason} Try again in ${BUSY_RETRY_S} seconds.`;
  return new Fault('busy', { details: [{ message }], retryAfterS: BUSY_RETRY_S, cause });
}

function tooLong(field: string | undefined, cause: unknown): Fault {
  const message = `${field ?? 'This request'} takes too long to evaluate. Ask for less, or use fewer or more exact terms.`;
  return new Fault('validation_failed', {
    details: [{ message, ...(field === undefined ? {} : { field }) }],
    cause,
  });
}

/** The reason for canceled statements of a request that was answered or whose client left. It is not a failure. */
export class RequestEnded extends Error {
  override message = 'The request has ended';
}

/**
 * `heavy`: its cost in the database depends on typed input or on the amount of stored data. `images`: it fetches images from servers that
 * customers named. Each kind has its own queue, so that none waits for another.
 */
type Cost = 'light' | 'heavy' | 'images';

/**
 * Query parameters that name one thing, turn pages, order rows by an index, or format an answer. Any other parameter makes its route heavy.
 */
const LIGHT_PARAMETERS: ReadonlySet<string> = new Set([
  'cursor',
  'offset',
  'limit',
  'sort',
  'last_event_id',
  'view',
  'screen',
  'scheme',
  'images',
  'copy',
  'format',
  'preview_id',
  'token',
  'email',
  'user',
  'draft',
  'at',
]);
/** Fields of a body by which the database is searched. The others are written, or name one thing. */
const HEAVY_FIELDS: ReadonlySet<string> = new Set(['filter', 'definition', 'document']);

/** Returns the parameters and fields of this route that make it heavy. */
export function heavyFields({ query, body }: Pick<RouteRules, 'query' | 'body'>): string[] {
  return [
    ...namesOf(query).filter((name) => !LIGHT_PARAMETERS.has(name)),
    ...namesOf(body).filter((name) => HEAVY_FIELDS.has(name)),
  ];
}

type Typed = { query: unknown; body: unknown };

/** Decides by the route's shape, so that no route has to be listed. */
export function costOf(route: RouteRules): (typed: Typed) => Cost {
  const fields = heavyFields(route);
  return ({ query, body }) => {
    if (route.isHeavy || fields.some((name) => hasValue(query, name) || hasValue(body, name))) return 'heavy';
    return valueOf(query, 'images') === 'show' ? 'images' : 'light';
  };
}

function namesOf(schema: TSchema | undefined): string[] {
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
}

function hasValue(typed: unknown, name: string): boolean {
  const value = valueOf(typed, name);
  return value !== undefined && value !== '';
}

function valueOf(typed: unknown, name: string): unknown {
  return typeof typed === 'object' && typed !== null ? (typed as Record<string, unknown>)[name] : undefined;
}
