import { show } from '../print.ts';
import { growth } from './growth.ts';
import { kills } from './kills.ts';
import { latency } from './latency.ts';
import { neighbor } from './neighbor.ts';
import { projects } from './projects.ts';
import { rate } from './rate.ts';
import { type Sizes, sizesOf } from './sizes.ts';
import { again, idle } from './standing.ts';

type Part = (sizes: Sizes) => Promise<void>;

const SEEN = ['events /s', 'samples', 'p50', 'p95', 'p99', 'max', 'oldest waiting', 'unseen'];

const PARTS: Record<string, Part> = {
  async latency(sizes) {
    const { search, rows } = await latency(sizes);
    await show(
      'Highest rate at which no live record waits for 1 s',
      ['step', 'events /s', 'oldest waiting', 'p95', ''],
      async () => search,
    );
    await show(
      `Accepted to visible, at half of it, ${sizes.backfill} records beside (p95 ≤ 300 ms, p99 ≤ 1,000 ms; seen by questions every 20 ms)`,
      ['', ...SEEN],
      async () => rows,
    );
  },
  async rate(sizes) {
    const header = [
      '',
      'Beckon /s',
      'bare /s',
      'ratio',
      'rows each',
      'moves',
      'worker CPU',
      'PostgreSQL CPU',
    ];
    const title = `(${sizes.batchRecords} records, 20 audiences) against bare writes of the same rows`;
    await show(`Bulk events ${title} (≥ 0.35)`, header, () => rate(sizes, 'events'));
    await show(`Bulk users ${title} (≥ 0.5)`, header, () => rate(sizes, 'users'));
  },
  async growth(sizes) {
    const title = `Worker and PostgreSQL for one event, medians of ${sizes.growth.runs} (≤ 1.3 ×)`;
    await show(title, ['', 'little', 'much', 'ratio', 'single pairs'], () => growth(sizes));
  },
  async projects(sizes) {
    const title = `${sizes.projects} projects with ${sizes.eventsOfEach} events a second each (p95 ≤ 300 ms, ≤ 1.8 × the CPU of one)`;
    const header = [
      '',
      'processed /s',
      'p95',
      'p99',
      'oldest waiting',
      'kept up',
      'API',
      'worker + PostgreSQL',
      'ratio',
    ];
    await show(title, header, () => projects(sizes));
  },
  async neighbor(sizes) {
    const title = `A neighbor with ${sizes.backfill} waiting records adds to p95 (< 50 ms)`;
    await show(title, ['', 'without', 'with', 'added', 'drained in', 'samples'], () => neighbor(sizes));
  },
  async idle(sizes) {
    const title = `CPU time in ${sizes.idleSeconds} s without work, ${sizes.idleAfterSeconds} s after a load (≤ 0.5 s in 60 s)`;
    await show(title, ['server', 'PostgreSQL', 'together'], () => idle(sizes));
  },
  async again(sizes) {
    const title = 'The same thousand records three times (the second and third change nothing)';
    await show(title, ['', 'tables that changed', ''], () => again(sizes));
  },
  async kills(sizes) {
    const title =
      'kill -9 of the worker while records wait (every user is as the order of acceptance demands)';
    await show(title, ['records', 'kills', 'while something waited', 'people', 'wrong'], () => kills(sizes));
  },
};

/** `npm run bench -- process [part …] [--quick] [--full]`. Runs all parts in turn if none is named. */
export async function benchProcessing(args: string[]): Promise<void> {
  const flags = { quick: args.includes('--quick'), full: args.includes('--full') };
  const names = args.filter((arg) => !arg.startsWith('--'));
  const sizes = sizesOf(flags);
  for (const name of names)
    if (!PARTS[name]) throw new Error(`There is no part "${name}": ${Object.keys(PARTS).join(', ')}`);
  for (const [name, part] of Object.entries(PARTS))
    if (names.length === 0 || names.includes(name)) await part(sizes);
}
