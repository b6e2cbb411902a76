import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../base/log.ts';
import { within } from '../base/within.ts';
import { type Depths, GAUGES, measureDepths } from '../flows/measure-depths.ts';
import type { Database } from '../io/db/index.ts';

export type WatchedDatabase = Pick<Database, 'transaction' | 'clock' | 'offsetMs' | 'pools'>;

/** However often it is scraped. */
const READ_EVERY_MS = 5_000;
/** A scrape waits no longer; what is read later is told by the next one. Less than a supervisor waits for a process. */
const WAIT_MS = 800;

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
        for (const sample of known?.samples ?? [])
          if (sample.gauge === name) this.set(sample.labels, sample.value);
      },
    });
  addReadings(registers, depths);
  addConnections(registers, db);
}

type Remembered = () => Promise<Depths | null>;

/** Asked by every gauge of a scrape at once, and read for all of them together. */
function remembered(db: WatchedDatabase, log: Log): Remembered {
  let reading: Promise<Depths | null> | null = null;
  let startedAt = -Infinity;
  return async () => {
    if (performance.now() - startedAt >= READ_EVERY_MS) {
      startedAt = performance.now();
      reading = measureDepths(db).catch((error: unknown) => {
        log.warn({ err: error }, 'metrics.not_read');
        return null;
      });
    }
    return reading && within(reading, WAIT_MS).catch(() => null);
  };
}

function addReadings(registers: Registry[], depths: Remembered): void {
  new Gauge({
    name: 'beckon_database_up',
    help: '1 where the database told what waits in it',
    registers,
    aggregator: 'min',
    async collect() {
      this.set((await depths()) === null ? 0 : 1);
    },
  });
  new Gauge({
    name: 'beckon_failed_readings',
    help: 'How many statements of this page were given up, because they took longer than a second',
    registers,
    aggregator: 'max',
    async collect() {
      this.set((await depths())?.failed.length ?? 0);
    },
  });
}

function addConnections(registers: Registry[], db: WatchedDatabase): void {
  new Gauge({
    name: 'beckon_database_connections',
    help: 'Connections to the database, by what they are for and whether somebody uses them',
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
