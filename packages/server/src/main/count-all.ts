import { Counter, Gauge, Registry } from 'prom-client';
import type { ManagedProcess } from './keep-process.ts';
import { type ProcessMetrics, countsOf, keepCounted, mergeCounts } from './merged-counts.ts';
import type { ProcessMessage } from './processes.ts';

/** A process that is busy for longer is shown with its last values. */
const ANSWER_WITHIN_MS = 1_000;

type CountsMessage = Extract<ProcessMessage, { kind: 'counted' }>;

/** Collects the metrics of all processes, whichever of them is scraped. */
export function countAll(processes: () => readonly ManagedProcess[]): {
  counted: (from: ManagedProcess, message: CountsMessage) => void;
  ended: (managed: ManagedProcess) => void;
  text: () => Promise<string>;
} {
  const processCounts = countProcesses(processes);
  const last = new Map<ManagedProcess, ProcessMetrics>();
  const waiting = new Map<number, () => void>();
  let ofEnded = Promise.resolve<ProcessMetrics>([]);
  let next = 0;

  async function requestCounts(managed: ManagedProcess): Promise<void> {
    const id = (next += 1);
    const counted = Promise.withResolvers<void>();
    const timer = setTimeout(counted.resolve, ANSWER_WITHIN_MS);
    waiting.set(id, counted.resolve);
    if (managed.send({ kind: 'count', id })) await counted.promise;
    clearTimeout(timer);
    waiting.delete(id);
  }

  return {
    counted(from, { id, counts }) {
      last.set(from, counts);
      waiting.get(id)?.();
    },
    ended(managed) {
      processCounts.ended(managed);
      const counts = last.get(managed);
      if (!counts) return;
      last.delete(managed);
      ofEnded = ofEnded.then((before) => keepCounted(before, counts));
    },
    async text() {
      await Promise.all(processes().map(requestCounts));
      return mergeCounts([...last.values(), await ofEnded, await countsOf(processCounts)]);
    },
  };
}

/** Metrics about the processes themselves. */
function countProcesses(processes: () => readonly ManagedProcess[]): {
  registry: Registry;
  ended: (managed: ManagedProcess) => void;
} {
  const registry = new Registry();
  const about = { labelNames: ['role'], registers: [registry] };
  new Gauge({
    ...about,
    name: 'beckon_processes',
    help: 'Serving processes on this machine',
    collect() {
      this.reset();
      for (const managed of processes()) this.inc({ role: managed.part.role }, managed.isServing ? 1 : 0);
    },
  });
  const ends = new Counter({
    ...about,
    name: 'beckon_process_ends_total',
    help: 'Unexpected ends of processes on this machine. Each process was restarted.',
  });
  return { registry, ended: ({ part }) => ends.labels(part.role).inc() };
}
