import { show } from '../print.ts';
import { build } from './build.ts';
import { evaluations, touching } from './predicate.ts';
import { type Sizes, sizesOf } from './sizes.ts';
import { timeOnly } from './time.ts';

const PARTS: Record<string, (sizes: Sizes) => Promise<void>> = {
  async time(sizes) {
    const { rows, live } = await timeOnly(sizes);
    await show(
      `How late "no feature_used for 7 days" took effect, ${sizes.people} people (max and p99 ≤ 1,000 ms when steady)`,
      ['', 'moved', 'p50', 'p99', 'max', 'drained in', 'missing', 'out of order'],
      async () => rows,
    );
    await show(
      `Accepted to visible beside it, ${sizes.perSecond} events a second of the same project`,
      ['', 'samples', 'p50', 'p95', 'p99'],
      async () => live,
    );
  },
  async build(sizes) {
    const { alone, live } = await build(sizes);
    const built = ['', 'built in', 'users /s', 'members'];
    await show(
      `Members of a new definition, ${sizes.buildPeople} users (≤ 4 × of one INSERT … SELECT)`,
      [...built, 'INSERT … SELECT', 'ratio'],
      async () => alone,
    );
    await show(
      `The same beside ${sizes.buildPerSecond} live events a second of the project (≥ 50,000 users /s, live p95 ≤ 300 ms)`,
      [...built, 'live p95', 'live p99', 'samples'],
      async () => live,
    );
  },
  async predicate() {
    await show('Evaluations in memory', ['', 'a second'], async () => evaluations());
    await show('Finding what an event touches', ['', '5', '500', 'ratio'], async () => touching());
  },
};

/** `npm run bench -- audiences [part …] [--quick]`. Runs all parts in turn if none is named. */
export async function benchAudiences(args: string[]): Promise<void> {
  const sizes = sizesOf({ quick: args.includes('--quick') });
  const names = args.filter((arg) => !arg.startsWith('--'));
  for (const name of names)
    if (!PARTS[name]) throw new Error(`There is no part "${name}": ${Object.keys(PARTS).join(', ')}`);
  for (const [name, part] of Object.entries(PARTS))
    if (names.length === 0 || names.includes(name)) await part(sizes);
}
