import { Counter, Gauge, Registry } from 'prom-client';
import type { Kept } from './keep-process.ts';
import { type ProcessMetrics, countsOf, keepCounted, mergeCounts } from './merged-counts.ts';
import type { FromPart } from './processes.ts';

/** A process that is busy for longer is shown with its last values. */
const ANSWER_WITHIN_MS = 1_000;

type Counted = Extract<FromPart, { kind: 'counted' }>;

/** Collects the metrics of all processes, whichever of them is scraped. */
export function countAll(kept: () => readonly Kept[]): {
  counted: (from: Kept, message: Counted) => void;
  ended: (one: Kept) => void;
  text: () => Promise<string>;
} {
  const own = countOwn(kept);
  const last = new Map<Kept, ProcessMetrics>();
  const waiting = new Map<number, () => void>();
  let ofEnded = Promise.resolve<ProcessMetrics>([]);
  let next = 0;

  async function ask(one: Kept): Promise<void> {
    const id = (next += 1);
    const answered = Promise.withResolvers<void>();
    const timer = setTimeout(answered.resolve, ANSWER_WITHIN_MS);
    waiting.set(id, answered.resolve);
    if (one.tell({ kind: 'count', id })) await answered.promise;
    clearTimeout(timer);
    waiting.delete(id);
  }

  return {
    counted(from, { id, counts }) {
      last.set(from, counts);
      waiting.get(id)?.();
    },
    ended(one) {
      own.ended(one);
      const counts = last.get(one);
      if (!counts) return;
      last.delete(one);
      ofEnded = ofEnded.then((before) => keepCounted(before, counts));
    },
    async text() {
      await Promise.all(kept().map(ask));
      return mergeCounts([...last.values(), await ofEnded, await countsOf(own)]);
    },
  };
}

/** Metrics about the processes themselves. */
function countOwn(kept: () => readonly Kept[]): { registry: Registry; ended: (one: Kept) => void } {
  const registry = new Registry();
  const about = { labelNames: ['role'], registers: [registry] };
  new Gauge({
    ...about,
    name: 'beckon_processes',
    help: 'Serving processes on this machine',
    collect() {
      this.reset();
      for (const one of kept()) this.inc({ role: one.part.role }, one.isServing ? 1 : 0);
    },
  });
  const ends = new Counter({
    ...about,
    name: 'beckon_process_ends_total',
    help: 'Unexpected ends of processes on this machine. Each process was restarted.',
  });
  return { registry, ended: ({ part }) => ends.labels(part.role).inc() };
}
