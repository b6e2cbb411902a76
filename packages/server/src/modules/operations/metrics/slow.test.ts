import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { silentLog } from '../../../platform/log.ts';
import { READINGS } from './depth-readings.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type WatchedDatabase, watchDatabase } from './database.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** The scrape interval of docs/how-to/monitoring.md, and the longest wait of a scrape. */
const SCRAPE_EVERY_MS = 15_000;
const SCRAPE_WAITS_MS = 800;

/** A database that responds when `respond` is called, with a number of dead-lettered records or an error. */
function slowDatabase(): {
  db: WatchedDatabase;
  begun: () => number;
  respond: (dead: number | Error) => Promise<void>;
} {
  let started = 0;
  let gate = Promise.withResolvers<number>();
  const tx = (dead: number): Tx => {
    const rows = [{ gauge: 'beckon_dead_letters', a: null, b: null, value: dead }];
    const query: Tx['query'] = (text) => Promise.resolve((text.startsWith('SET') ? [] : rows) as never);
    return { query, prepared: () => Promise.resolve([]) };
  };
  return {
    db: {
      async transaction(work) {
        started += 1;
        return work(tx(await gate.promise));
      },
      clock: fixedClock(),
      offsetMs: () => null,
      pools: () => [],
    },
    // Each reading is one transaction, and all of them follow once the gate opens.
    begun: () => Math.ceil(started / READINGS.length),
    async respond(dead) {
      if (dead instanceof Error) gate.reject(dead);
      else gate.resolve(dead);
      await vi.advanceTimersByTimeAsync(1);
      gate = Promise.withResolvers<number>();
    },
  };
}

function open(db: WatchedDatabase): () => Promise<{ up: number | null; dead: number | null }> {
  const registry = new Registry();
  watchDatabase(registry, { db, log: silentLog });
  return async () => {
    const page = registry.metrics();
    await vi.advanceTimersByTimeAsync(SCRAPE_WAITS_MS);
    const text = await page;
    const metric = (name: string): number | null => {
      const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
      return value === undefined ? null : Number(value);
    };
    return { up: metric('beckon_database_up'), dead: metric('beckon_dead_letters') };
  };
}

const untilNextScrape = (): Promise<unknown> =>
  vi.advanceTimersByTimeAsync(SCRAPE_EVERY_MS - SCRAPE_WAITS_MS - 1);

test('shows a slow reading in the next scrape, with the database up', async () => {
  const slow = slowDatabase();
  const scrape = open(slow.db);
  expect(await scrape()).toEqual({ up: null, dead: null });
  await slow.respond(7);
  await untilNextScrape();
  expect(await scrape()).toEqual({ up: 1, dead: 7 });
  await slow.respond(8);
  await untilNextScrape();
  expect(await scrape()).toEqual({ up: 1, dead: 8 });
});

test('runs one reading at a time, and shows the last one for a minute', async () => {
  const slow = slowDatabase();
  const scrape = open(slow.db);
  await scrape();
  await slow.respond(7);
  for (let scrapes = 0; scrapes < 3; scrapes += 1) {
    await untilNextScrape();
    expect(await scrape()).toEqual({ up: 1, dead: 7 });
  }
  expect(slow.begun()).toBe(2);
  await untilNextScrape();
  await untilNextScrape();
  expect(await scrape()).toEqual({ up: 0, dead: null });
});

test('shows the database as down after a failed reading, until one succeeds', async () => {
  const slow = slowDatabase();
  const scrape = open(slow.db);
  await scrape();
  await slow.respond(7);
  await untilNextScrape();
  await scrape();
  await slow.respond(new Error('the connection was closed'));
  await untilNextScrape();
  expect(await scrape()).toEqual({ up: 0, dead: null });
  await slow.respond(9);
  await untilNextScrape();
  expect(await scrape()).toEqual({ up: 1, dead: 9 });
});
