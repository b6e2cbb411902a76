import { availableParallelism } from 'node:os';
import { show } from '../print.ts';
import { http } from './http.ts';
import { memory } from './memory.ts';
import { LATENCY_MS, type Sizes, sizesOf } from './sizes.ts';
import { connections, throughput } from './throughput.ts';

const PARTS: Record<string, (sizes: Sizes) => Promise<void>> = {
  async throughput(sizes) {
    const { emails, pairs } = sizes.throughput;
    const title = `${emails} emails over ${connections} connections, ${pairs} pairs (≥ 0.6 of a loop with the same library). PostgreSQL's writes are included; sender, PostgreSQL and sink share ${availableParallelism()} cores`;
    const cost = ['sender CPU', 'PostgreSQL CPU', 'sink CPU'];
    const header = [
      '',
      'emails /s',
      'bytes',
      ...cost,
      'claimed / submitted / recorded together',
      'twice',
      'not sent',
      'the product to it',
    ];
    await show(title, header, () => throughput(sizes));
  },
  async http(sizes) {
    const { emails, warmUp } = sizes.http;
    const title = `${emails} emails through the API of a provider that answers after ${LATENCY_MS} ms (≥ 200 a second, heap within 5 %)`;
    const header = ['', 'emails /s', 'twice', `heap after ${warmUp}`, `heap after ${emails}`, 'growth'];
    await show(title, header, () => http(sizes));
  },
  async memory(sizes) {
    const { perSecond, warmUpMs, forMs } = sizes.memory;
    const title = `Resident memory of the worker at ${perSecond} emails a second, ${forMs / 1_000} s after a warm-up of ${warmUpMs / 1_000} s (< 1 % a minute)`;
    const header = [
      'samples',
      'first',
      'median',
      'most',
      'last',
      'a minute',
      'claimed / submitted / recorded together',
      'drafts',
      'emails',
      'twice',
      'not sent',
    ];
    await show(title, header, () => memory(sizes));
  },
};

/** `npm run bench -- send [part …] [--quick]`. Runs all parts in turn if none is named. */
export async function benchSend(args: string[]): Promise<void> {
  const sizes = sizesOf({ quick: args.includes('--quick') });
  const names = args.filter((arg) => !arg.startsWith('--'));
  for (const name of names)
    if (!PARTS[name]) throw new Error(`There is no part "${name}": ${Object.keys(PARTS).join(', ')}`);
  for (const [name, part] of Object.entries(PARTS))
    if (names.length === 0 || names.includes(name)) await part(sizes);
}
