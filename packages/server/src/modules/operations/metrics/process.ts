import { readdir, readFile } from 'node:fs/promises';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Reads process metrics when the page is requested. The default metrics of prom-client wake an idle process a hundred times a second. */
export function addProcessMetrics(registers: Registry[]): { stop(): void } {
  addMemory(registers);
  addDescriptors(registers);
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time since the start',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  const startedAt = Date.now() / 1_000 - process.uptime();
  gauge(registers, {
    name: 'process_start_time_seconds',
    help: 'Start time of the process. With several processes, the latest.',
    aggregator: 'max',
    read: () => startedAt,
  });
  const stops = [watchLoop(registers), watchCollections(registers)];
  return { stop: () => stops.forEach((stop) => stop()) };
}

type GaugeOptions = { name: string; help: string; aggregator: 'sum' | 'max' | 'min'; read: () => number };

function gauge(registers: Registry[], { read, ...about }: GaugeOptions): void {
  new Gauge({
    ...about,
    registers,
    collect() {
      this.set(read());
    },
  });
}

function addMemory(registers: Registry[]): void {
  gauge(registers, {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process',
    aggregator: 'sum',
    read: () => process.memoryUsage.rss(),
  });
  // The heap limit applies to each process, so the used heap is not added up either.
  gauge(registers, {
    name: 'nodejs_heap_used_bytes',
    help: 'Used JavaScript heap. With several processes, the highest value.',
    aggregator: 'max',
    read: () => getHeapStatistics().used_heap_size,
  });
  gauge(registers, {
    name: 'nodejs_heap_limit_bytes',
    help: 'Heap size at which a process ends',
    aggregator: 'min',
    read: () => getHeapStatistics().heap_size_limit,
  });
}

/** Available on Linux only. */
function addDescriptors(registers: Registry[]): void {
  const asyncGauge = (
    about: { name: string; help: string; aggregator: 'max' | 'min' },
    read: () => Promise<number>,
  ) =>
    new Gauge({
      ...about,
      registers,
      async collect() {
        await read().then(
          (count) => this.set(count),
          () => this.reset(),
        );
      },
    });
  asyncGauge(
    {
      name: 'process_open_fds',
      help: 'Open files and connections. With several processes, the highest value.',
      aggregator: 'max',
    },
    async () => (await readdir('/proc/self/fd')).length,
  );
  asyncGauge(
    { name: 'process_max_fds', help: 'Limit of open files and connections of a process', aggregator: 'min' },
    async () => Number(/^Max open files\s+(\d+)/m.exec(await readFile('/proc/self/limits', 'utf8'))?.[1]),
  );
}

const LOOP_EVERY_MS = 250;

/** Measures the delay of a timer that is due four times a second. All other work of the process waits as long. */
function watchLoop(registers: Registry[]): () => void {
  const lag = new Histogram({
    name: 'beckon_event_loop_lag_seconds',
    help: 'Delay of a timer that runs four times a second',
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  let dueAt = performance.now() + LOOP_EVERY_MS;
  const timer = setInterval(() => {
    lag.observe(Math.max(0, performance.now() - dueAt) / 1_000);
    dueAt = performance.now() + LOOP_EVERY_MS;
  }, LOOP_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

const KINDS = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak'],
]);

function watchCollections(registers: Registry[]): () => void {
  const seconds = new Counter({
    name: 'nodejs_gc_seconds_total',
    help: 'Time spent in garbage collection',
    labelNames: ['kind'],
    registers,
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as typeof entry & { detail?: { kind?: number } };
      const kind = KINDS.get(detail?.kind ?? 0) ?? 'other';
      seconds.labels(kind).inc(duration / 1_000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}
