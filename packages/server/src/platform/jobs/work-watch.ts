import type { Database } from '../db/database.ts';

/** One kind of work. A loop or job without work follows it instead of polling. */
export type WatchedWork = {
  /** Calls `wake` while such work is due, until the returned function is called. It is looked for at least this often. */
  follow(wake: () => void, lookEveryMs: number): () => void;
};

/** Queries for one kind of work. At least one of them is given. */
export type DueQueries = {
  /** Returns a row if such work is due at `$1`. */
  due?: string;
  /** Returns one row with the time at which such work is due next. */
  nextAt?: string;
};

export type WorkWatch = {
  /** All kinds are added before the first one is followed. */
  add(queries: DueQueries): WatchedWork;
  stop(): void;
};

type Follower = { wake: () => void; lookEveryMs: number };
type Kind = DueQueries & { followers: Set<Follower> };
/** `due_…` is a truth value, and `next_…` a time in milliseconds. */
type DueRow = Record<string, boolean | number | null>;

/**
 * Looks for due work of all loops and jobs of a process with one statement. If each polled on its own, an idle process would send eighteen
 * statements a second. The statement is sent as often as the most demanding follower asks, and when a time is reached that an earlier one
 * returned. It is not sent while all loops have work.
 */
export function createWorkWatch(db: Pick<Database, 'prepared' | 'clock'>): WorkWatch {
  const kinds: Kind[] = [];
  let timer: NodeJS.Timeout | undefined;
  let timerEndsAt = Number.POSITIVE_INFINITY;
  let isLooking = false;
  let isStopped = false;

  /** Looks in `ms` milliseconds at the latest. */
  function schedule(ms: number): void {
    const at = performance.now() + ms;
    if (isStopped || isLooking || at >= timerEndsAt) return;
    clearTimeout(timer);
    timerEndsAt = at;
    timer = setTimeout(() => void look(), ms);
    timer.unref();
  }

  async function look(): Promise<void> {
    isLooking = true;
    timerEndsAt = Number.POSITIVE_INFINITY;
    const row = await findDue(db, kinds);
    isLooking = false;
    const nextInMs = wakeDue(kinds, row, db.clock.now());
    if (nextInMs !== Number.POSITIVE_INFINITY) schedule(nextInMs);
  }

  function follow(kind: Kind, follower: Follower): () => void {
    kind.followers.add(follower);
    schedule(follower.lookEveryMs);
    return () => kind.followers.delete(follower);
  }

  return {
    add(queries) {
      const kind: Kind = { ...queries, followers: new Set() };
      kinds.push(kind);
      return { follow: (wake, lookEveryMs) => follow(kind, { wake, lookEveryMs }) };
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Returns null after a failure. All followers are then woken, because each of them reports and repeats its own failures. */
async function findDue(db: Pick<Database, 'prepared' | 'clock'>, kinds: Kind[]): Promise<DueRow | null> {
  const columns = kinds.flatMap(({ due, nextAt }, i) => [
    ...(due === undefined ? [] : [`EXISTS (${due}) AS due_${i}`]),
    ...(nextAt === undefined ? [] : [`date_part('epoch', (${nextAt})) * 1000 AS next_${i}`]),
  ]);
  // PostgreSQL rejects a parameter that no query uses.
  const usesTime = kinds.some(({ due }) => due?.includes('$1'));
  const query = {
    name: 'work.due',
    text: `SELECT ${columns.join(', ')}`,
    values: usesTime ? [new Date(db.clock.now())] : [],
  };
  try {
    return (await db.prepared<DueRow>(query))[0] ?? null;
  } catch {
    return null;
  }
}

/** Wakes the followers of due work. Returns the time until the next look, which is infinite without followers. */
function wakeDue(kinds: Kind[], row: DueRow | null, now: number): number {
  let nextInMs = Number.POSITIVE_INFINITY;
  for (const [i, { followers }] of kinds.entries()) {
    const nextAt = Number(row?.[`next_${i}`] ?? Number.POSITIVE_INFINITY);
    const isDue = row === null || row[`due_${i}`] === true || nextAt <= now;
    for (const { wake, lookEveryMs } of followers) {
      nextInMs = Math.min(nextInMs, lookEveryMs, isDue ? lookEveryMs : nextAt - now);
      if (isDue) wake();
    }
  }
  return nextInMs;
}
