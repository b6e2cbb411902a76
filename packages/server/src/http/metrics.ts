import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = {
  answered: (endpoint: string, status: number) => void;
  flushed: (facts: { lane: string; requests: number; records: number; ms: number }) => void;
  digested: (facts: { lane: string; records: number; ms: number }) => void;
  /** How long the oldest record of a batch waited, or how late what time alone changes is. */
  lagged: (facts: { lane: string; ms: number }) => void;
  text(): Promise<string>;
  contentType: string;
};

/** prom-client's own process metrics wake an idle process a hundred times a second; these are read when asked for. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  // Counted by ourselves and told when asked: prom-client hashes the labels at every step.
  const answers = new Map<string, Map<number, number>>();
  new Counter({
    name: 'beckon_requests_total',
    help: 'Answers of the public endpoints',
    labelNames: ['endpoint', 'status'],
    registers,
    collect() {
      this.reset();
      for (const [endpoint, statuses] of answers) {
        for (const [status, count] of statuses) this.inc({ endpoint, status: String(status) }, count);
      }
    },
  });
  const records = new Counter({
    name: 'beckon_records_accepted_total',
    help: 'Records that are durable in the inbox',
    labelNames: ['lane'],
    registers,
  });
  const flushSize = new Histogram({
    name: 'beckon_flush_requests',
    help: 'Requests that shared one commit',
    labelNames: ['lane'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
    registers,
  });
  const flushSeconds = new Histogram({
    name: 'beckon_flush_seconds',
    help: 'From the moment a flush leaves to its commit, behind the one in front of it',
    labelNames: ['lane'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  addProcessGauges(registers);
  return {
    ...digestMetrics(registers),
    answered(endpoint, status) {
      let statuses = answers.get(endpoint);
      if (!statuses) answers.set(endpoint, (statuses = new Map()));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    },
    flushed({ lane, requests: size, records: count, ms }) {
      records.labels(lane).inc(count);
      flushSize.labels(lane).observe(size);
      flushSeconds.labels(lane).observe(ms / 1_000);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function digestMetrics(registers: Registry[]): Pick<Metrics, 'digested' | 'lagged'> {
  const records = new Counter({
    name: 'beckon_records_digested_total',
    help: 'Records that became state, or dead letters',
    labelNames: ['lane'],
    registers,
  });
  const seconds = new Histogram({
    name: 'beckon_digest_seconds',
    help: 'A batch, from taking the turns to its commit',
    labelNames: ['lane'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const lag = new Gauge({
    name: 'beckon_digest_lag_seconds',
    help: 'How long the oldest record of the last batch waited; for "time", how overdue the next moment is',
    labelNames: ['lane'],
    registers,
  });
  return {
    digested({ lane, records: count, ms }) {
      records.labels(lane).inc(count);
      seconds.labels(lane).observe(ms / 1_000);
    },
    lagged: ({ lane, ms }) => lag.labels(lane).set(ms / 1_000),
  };
}

function addProcessGauges(registers: Registry[]): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('process_resident_memory_bytes', 'Memory held by this process', () => process.memoryUsage.rss());
  gauge('process_cpu_seconds', 'Processor time used since the start', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_uptime_seconds', 'Time since the start', () => process.uptime());
}
