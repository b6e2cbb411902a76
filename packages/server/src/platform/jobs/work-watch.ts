import type { Database } from '../db/database.ts';

/** One kind of work. A loop without work follows it instead of polling. */
export type WatchedWork = {
  /** Calls `wake` while such work is due, until the returned function is called. */
  follow(wake: () => void): () => void;
};

export type WorkWatch = {
  /** `query` returns a row if such work is due at `$1`. All kinds are added before the first one is followed. */
  add(query: string): WatchedWork;
  stop(): void;
};

/** The longest time that due work waits for a loop that was not woken. */
const LOOK_EVERY_MS = 250;

type Kind = { query: string; followers: Set<() => void> };
type DueRow = Record<string, boolean>;

/**
 * Looks for due work of all loops of a process with one statement, four times a second. If each loop polled on its own, an idle process would
 * send eighteen statements a second. It sends none while all loops have work.
 */
export function createWorkWatch(db: Pick<Database, 'prepared' | 'clock'>): WorkWatch {
  const kinds: Kind[] = [];
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;

  function schedule(): void {
    if (timer !== null || isStopped || kinds.every(({ followers }) => followers.size === 0)) return;
    timer = setTimeout(() => {
      void look().finally(() => {
        timer = null;
        schedule();
      });
    }, LOOK_EVERY_MS);
    timer.unref();
  }

  async function look(): Promise<void> {
    const due = await findDue();
    for (const [i, { followers }] of kinds.entries())
      if (due === null || due[columnOf(i)]) for (const wake of followers) wake();
  }

  /** Returns null after a failure. All loops are then woken, because each of them reports and repeats its own failures. */
  async function findDue(): Promise<DueRow | null> {
    const columns = kinds.map(({ query }, i) => `EXISTS (${query}) AS ${columnOf(i)}`);
    const query = {
      name: 'work.due',
      text: `SELECT ${columns.join(', ')}`,
      values: [new Date(db.clock.now())],
    };
    try {
      return (await db.prepared<DueRow>(query))[0] ?? null;
    } catch {
      return null;
    }
  }

  return {
    add(query) {
      const kind: Kind = { query, followers: new Set() };
      kinds.push(kind);
      return {
        follow(wake) {
          kind.followers.add(wake);
          schedule();
          return () => kind.followers.delete(wake);
        },
      };
    },
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function columnOf(i: number): string {
  return `kind_${i}`;
}
