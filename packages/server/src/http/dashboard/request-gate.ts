import { createFairQueue, type FairQueue, QueueFull } from '../../base/fair-queue.ts';
import { Fault } from '../../base/fault.ts';
import { type Database, isCanceled } from '../../io/db/index.ts';
import type { Cost } from './request-cost.ts';
import type { DashboardRoute } from './route.ts';

/** Of the connections for heavy requests, backtests have the rest (`backtest-places.ts`). */
const HEAVY = { atOnce: 3, atOncePerKey: 2, places: 80, placesPerKey: 20 };
/** Apart from the heavy ones: a picture's server may be slow, and the database has nothing to do meanwhile. */
const IMAGES = { atOnce: 2, atOncePerKey: 1, places: 80, placesPerKey: 20 };
const BUSY_RETRY_S = 5;

export type GatedRequest = {
  one: Pick<DashboardRoute, 'turn'>;
  projectId: number;
  cost: Cost;
  /** The first of its fields that made it heavy. */
  field: string | undefined;
  /** Given when the request is over; left out for one that changes something, which runs to its end. */
  signal: AbortSignal | undefined;
};

/** Runs a request with the connections of its cost, when it is its project's turn. */
export type RequestGate = <T>(request: GatedRequest, work: (db: Database) => Promise<T>) => Promise<T>;

export function createRequestGate(db: Database): RequestGate {
  const [heavy, images] = [createFairQueue(HEAVY), createFairQueue(IMAGES)];
  return async ({ one, projectId, cost, field, signal }, work) => {
    const ended = signal ? { signal } : {};
    if (cost === 'light') return work(db.forPages({ cost, ...ended }));
    if (cost === 'images') {
      const leave = await enter(images, projectId, signal);
      return work(db.forPages({ cost: 'light', ...ended })).finally(leave);
    }
    const { turn = 'request' } = one;
    const eachTurn = (): Promise<() => void> => heavy.enter(projectId, { signal, isPatient: true });
    const asked = { cost, ...ended, ...(turn === 'statement' ? { turn: eachTurn } : {}) };
    const leave = turn === 'request' ? await enter(heavy, projectId, signal) : (): void => {};
    try {
      return await work(db.forPages(asked));
    } catch (error) {
      // What changed something may have changed a part of it, which is no refusal.
      throw signal && isCanceled(error) ? tooLong(field, error) : error;
    } finally {
      leave();
    }
  };
}

async function enter(
  queue: FairQueue,
  projectId: number,
  signal: AbortSignal | undefined,
): Promise<() => void> {
  try {
    return await queue.enter(projectId, { signal });
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error;
    throw new Fault('server_error', { retryAfterS: BUSY_RETRY_S, cause: error });
  }
}

function tooLong(field: string | undefined, cause: unknown): Fault {
  const message = `${field ?? 'This request'} takes too long to evaluate. Ask for less, or use fewer or more exact terms.`;
  return new Fault('validation_failed', {
    details: [{ message, ...(field === undefined ? {} : { field }) }],
    cause,
  });
}

/** Why the statements of a request were canceled: nobody reads its answer, and nothing failed. */
export class RequestEnded extends Error {
  override message = 'The request has ended';
}
