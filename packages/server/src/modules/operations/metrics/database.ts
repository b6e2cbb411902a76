import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../../../platform/log.ts';
import { atMost } from '../../../platform/time/within.ts';
import { type Depths, GAUGES, measureDepths } from './measure-depths.ts';
import type { Database } from '../../../platform/db/database.ts';

export type WatchedDatabase = Pick<Database, 'transaction' | 'clock' | 'offsetMs' | 'pools'>;

/** A more frequent scrape gets the last reading. */
const READ_EVERY_MS = 5_000;
/** A reading that takes longer appears in the next scrape. It is shorter than the supervisor waits for a process. */
const WAIT_MS = 800;
/** The last reading is shown this long while newer ones take too long. */
const KEEP_MS = 60_000;

/**
 * Gauges of waiting work in the database. Every process reports the same values, so the maximum of several is used. If the
 * database does not respond they are left out, and the page still has the metrics of the process.
 */
export function watchDatabase(registry: Registry, { db, log }: { db: WatchedDatabase; log: Log }): void {
  const registers = [registry];
  const depths = cachedReader(db, log);
  for (const { name, help, labels } of GAUGES)
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers,
      aggregator: 'max',
      async collect() {
        const reading = await depths();
        this.reset();
        // prom-client resets a gauge without labels to 0 instead of removing it.
        if (labels.length === 0) this.remove();
        for (const sample of reading.samples)
          if (sample.gauge === name) this.set(sample.labels, sample.value);
      },
    });
  addReadings(registers, depths);
  addConnections(registers, db);
}

/** `up` is null before the first reading ends. */
type DepthReading = Depths & { up: 0 | 1 | null };
type DepthReader = () => Promise<DepthReading>;

const NOT_READ = { samples: [], failed: [] };

/** All gauges of a scrape share one reading. Only one reading runs at a time. */
function cachedReader(db: WatchedDatabase, log: Log): DepthReader {
  let pending: Promise<void> | null = null;
  let startedAt = -Infinity;
  let last: DepthReading = { ...NOT_READ, up: null };
  let lastAt: number | null = null;

  async function read(): Promise<void> {
    try {
      last = { ...(await measureDepths(db)), up: 1 };
    } catch (error) {
      log.warn({ err: error }, 'metrics.not_read');
      last = { ...NOT_READ, up: 0 };
    }
    lastAt = performance.now();
    pending = null;
  }

  return async () => {
    if (!pending && performance.now() - startedAt >= READ_EVERY_MS) {
      startedAt = performance.now();
      lastAt ??= startedAt;
      pending = read();
    }
    if (pending) await atMost(pending, WAIT_MS);
    return performance.now() - (lastAt ?? 0) <= KEEP_MS ? last : { ...NOT_READ, up: 0 };
  };
}

function addReadings(registers: Registry[], depths: DepthReader): void {
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
