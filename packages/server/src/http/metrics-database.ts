import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../base/log.ts';
import { atMost } from '../base/within.ts';
import { type Depths, GAUGES, measureDepths } from '../flows/measure-depths.ts';
import type { Database } from '../io/db/index.ts';

export type WatchedDatabase = Pick<Database, 'transaction' | 'clock' | 'offsetMs' | 'pools'>;

/** However often it is scraped. */
const READ_EVERY_MS = 5_000;
/** A scrape waits no longer; what is read later is told by the next one. Less than a supervisor waits for a process. */
const WAIT_MS = 800;
/** Where reading takes longer than that, the last one is told, for a few scrapes. */
const TOLD_FOR_MS = 60_000;

/**
 * What waits in the database. Every process that is asked tells the same: of several, one takes the largest. Where the
 * database does not answer, these are left out, and what the process knows of itself is told all the same.
 */
export function watchDatabase(registry: Registry, { db, log }: { db: WatchedDatabase; log: Log }): void {
  const registers = [registry];
  const depths = remembered(db, log);
  for (const { name, help, labels } of GAUGES)
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers,
      aggregator: 'max',
      async collect() {
        const known = await depths();
        this.reset();
        // Of one without labels nothing is a zero.
        if (labels.length === 0) this.remove();
        for (const sample of known.samples) if (sample.gauge === name) this.set(sample.labels, sample.value);
      },
    });
  addReadings(registers, depths);
  addConnections(registers, db);
}

/** `up` is null before the first reading is over: nobody knows yet. */
type Told = Depths & { up: 0 | 1 | null };
type Remembered = () => Promise<Told>;

const NOT_READ = { samples: [], failed: [] };

/** Asked by every gauge of a scrape at once, and read for all of them together; never twice at a time, however slow it is. */
function remembered(db: WatchedDatabase, log: Log): Remembered {
  let underWay: Promise<void> | null = null;
  let startedAt = -Infinity;
  let last: Told = { ...NOT_READ, up: null };
  let lastAt: number | null = null;

  async function read(): Promise<void> {
    try {
      last = { ...(await measureDepths(db)), up: 1 };
    } catch (error) {
      log.warn({ err: error }, 'metrics.not_read');
      last = { ...NOT_READ, up: 0 };
    }
    lastAt = performance.now();
    underWay = null;
  }

  return async () => {
    if (!underWay && performance.now() - startedAt >= READ_EVERY_MS) {
      startedAt = performance.now();
      lastAt ??= startedAt;
      underWay = read();
    }
    if (underWay) await atMost(underWay, WAIT_MS);
    return performance.now() - (lastAt ?? 0) <= TOLD_FOR_MS ? last : { ...NOT_READ, up: 0 };
  };
}

function addReadings(registers: Registry[], depths: Remembered): void {
  new Gauge({
    name: 'beckon_database_up',
    help: '1 if the database answered the last reading',
    registers,
    aggregator: 'min',
    async collect() {
      const { up } = await depths();
      if (up === null) this.remove();
      else this.set(up);
    },
  });
  new Gauge({
    name: 'beckon_failed_readings',
    help: 'Statements of this page that were canceled because they took longer than a second',
    registers,
    aggregator: 'max',
    async collect() {
      this.set((await depths()).failed.length);
    },
  });
}

function addConnections(registers: Registry[], db: WatchedDatabase): void {
  new Gauge({
    name: 'beckon_database_connections',
    help: 'Connections to the database, by pool and whether they are in use',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const { name, total, idle } of db.pools()) {
        this.set({ pool: name, state: 'idle' }, idle);
        this.set({ pool: name, state: 'busy' }, total - idle);
      }
    },
  });
  new Gauge({
    name: 'beckon_database_waiting_callers',
    help: 'Callers that wait for a connection',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const { name, waiting } of db.pools()) this.set({ pool: name }, waiting);
    },
  });
  new Gauge({
    name: 'beckon_clock_offset_seconds',
    help: "How far the database's clock is ahead of this machine's",
    registers,
    aggregator: 'max',
    collect() {
      const offset = db.offsetMs();
      if (offset !== null) this.set(offset / 1_000);
    },
  });
}
