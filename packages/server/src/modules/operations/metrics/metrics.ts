import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { addProcessMetrics } from './process.ts';
import { addWorkMetrics, type WorkMetrics } from './work.ts';

/** Metrics of this process. `database.ts` adds those of the database. */
export type Metrics = WorkMetrics & {
  /** Counts a response. `code`: of the first error, if the request was rejected. */
  countResponse: (endpoint: string, status: number, code?: string | null) => void;
  countFlush: (facts: { priority: string; requests: number; records: number; ms: number }) => void;
  countBatch: (facts: { priority: string; records: number; ms: number }) => void;
  /** Reports the wait of the oldest record of a batch, or the longest delay of due work. */
  reportLag: (facts: { queue: string; ms: number }) => void;
  registry: Registry;
  text(): Promise<string>;
  contentType: string;
  /** Stops measuring the event loop and garbage collection. */
  stop(): void;
};

/**
 * Counters and histograms of several processes are added up. The sum of a gauge is meaningless for most, so each gauge has an
 * `aggregator`.
 */
export function createMetrics(release: { version: string; node: string }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'beckon_build_info',
    help: 'Always 1. The labels are the running release.',
    labelNames: ['version', 'node'],
    registers,
    aggregator: 'max',
  })
    .labels(release.version, release.node)
    .set(1);
  return {
    ...responseMetrics(registers),
    ...flushMetrics(registers),
    ...processingMetrics(registers),
    ...addWorkMetrics(registers),
    ...addProcessMetrics(registers),
    registry,
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Counts in maps and fills the counters when the page is read, because prom-client hashes the labels at every increment. */
function responseMetrics(registers: Registry[]): Pick<Metrics, 'countResponse'> {
  const responses = new Tally();
  const refusals = new Tally();
  new Counter({
    name: 'beckon_requests_total',
    help: 'Responses of the public endpoints',
    labelNames: ['endpoint', 'status'],
    registers,
    collect() {
      this.reset();
      for (const [endpoint, status, count] of responses.rows()) this.inc({ endpoint, status }, count);
    },
  });
  new Counter({
    name: 'beckon_rejected_requests_total',
    help: 'Rejected requests to the public endpoints, by code of the first error',
    labelNames: ['endpoint', 'code'],
    registers,
    collect() {
      this.reset();
      for (const [endpoint, code, count] of refusals.rows()) this.inc({ endpoint, code }, count);
    },
  });
  return {
    countResponse(endpoint, status, code) {
      responses.add(endpoint, String(status));
      if (code && status >= 400) refusals.add(endpoint, code);
    },
  };
}

class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(a: string, b: string): void {
    let counts = this.#counts.get(a);
    if (!counts) this.#counts.set(a, (counts = new Map()));
    counts.set(b, (counts.get(b) ?? 0) + 1);
  }

  *rows(): Generator<[string, string, number]> {
    for (const [a, counts] of this.#counts) for (const [b, count] of counts) yield [a, b, count];
  }
}

function flushMetrics(registers: Registry[]): Pick<Metrics, 'countFlush'> {
  const records = new Counter({
    name: 'beckon_records_accepted_total',
    help: 'Records that are durable in the ingest queue',
    labelNames: ['priority'],
    registers,
  });
  const flushSize = new Histogram({
    name: 'beckon_flush_requests',
    help: 'Requests that shared one commit',
    labelNames: ['priority'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
    registers,
  });
  const flushSeconds = new Histogram({
    name: 'beckon_flush_seconds',
    help: 'Time from the start of a flush to its commit, including the wait for the previous one',
    labelNames: ['priority'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  return {
    countFlush({ priority, requests: size, records: count, ms }) {
      records.labels(priority).inc(count);
      flushSize.labels(priority).observe(size);
      flushSeconds.labels(priority).observe(ms / 1_000);
    },
  };
}

function processingMetrics(registers: Registry[]): Pick<Metrics, 'countBatch' | 'reportLag'> {
  const records = new Counter({
    name: 'beckon_records_processed_total',
    help: 'Records that were processed or dead-lettered',
    labelNames: ['priority'],
    registers,
  });
  const seconds = new Histogram({
    name: 'beckon_processing_seconds',
    help: 'Duration of a processing batch, from the project locks to its commit',
    labelNames: ['priority'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const lag = new Gauge({
    name: 'beckon_processing_lag_seconds',
    help: 'Wait of the oldest record in the last batch. For timers, send and webhooks, the longest delay.',
    labelNames: ['queue'],
    registers,
    aggregator: 'max',
  });
  return {
    countBatch({ priority, records: count, ms }) {
      records.labels(priority).inc(count);
      seconds.labels(priority).observe(ms / 1_000);
    },
    reportLag: ({ queue, ms }) => lag.labels(queue).set(ms / 1_000),
  };
}
