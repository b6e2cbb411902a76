import { show } from '../print.ts';
import { measureDue } from './due.ts';
import { firstClaim } from './first-claim.ts';
import { measureMany } from './many.ts';
import { type Sizes, sizesOf } from './sizes.ts';
import { workers } from './workers.ts';

const COST = ['a batch', 'sender CPU', 'PostgreSQL CPU'];
const CHECKS = ['out of order', 'twice'];

const PARTS: Record<string, (sizes: Sizes) => Promise<void>> = {
  async due(sizes) {
    const { drafts, overMs } = sizes.due;
    const { steady, backlog } = await measureDue(sizes);
    await show(
      `${drafts} drafts that fall due over ${overMs / 1_000} s, one worker`,
      ['drafts', 'sent /s', 'late p50', 'p99', 'max', 'sent p99', ...COST, 'left', ...CHECKS],
      async () => steady,
    );
    await show(
      'As many that are all due (≥ 2,000 /s), against the bare SQL that claims and writes the same rows',
      [
        'drafts',
        'sent /s',
        'bare claims /s',
        'ratio',
        'bare with results /s',
        'ratio',
        ...COST,
        'left',
        ...CHECKS,
      ],
      async () => backlog,
    );
  },
  async workers(sizes) {
    const title = `${sizes.workers.drafts} drafts of one project by one worker and by two (≤ 1.15 × the CPU, none twice)`;
    const header = ['', 'sent /s', ...COST, 'together', ...CHECKS, 'ratio'];
    await show(title, header, () => workers(sizes));
  },
  async 'first-claim'(sizes) {
    const title = `From its deadline until a fresh draft is claimed, ${sizes.first.waiting} waiting (p99 ≤ 1,000 ms)`;
    const header = ['waiting', 'fresh', 'p50', 'p99', 'max', 'sent p99', 'batches', 'missing'];
    await show(title, header, () => firstClaim(sizes));
  },
  async many(sizes) {
    const title = `Worker and PostgreSQL for an event that concerns one rule, medians of ${sizes.many.pairs} (≤ 1.3 ×)`;
    const header = ['', 'one rule', `${sizes.many.rules} rules`, 'ratio', 'single pairs'];
    await show(title, header, () => measureMany(sizes));
  },
};

/** `npm run bench -- rules [part …] [--quick]`. Runs all parts in turn if none is named. */
export async function benchRules(args: string[]): Promise<void> {
  const sizes = sizesOf({ quick: args.includes('--quick') });
  const names = args.filter((arg) => !arg.startsWith('--'));
  for (const name of names)
    if (!PARTS[name]) throw new Error(`There is no part "${name}": ${Object.keys(PARTS).join(', ')}`);
  for (const [name, part] of Object.entries(PARTS))
    if (names.length === 0 || names.includes(name)) await part(sizes);
}
