import { availableParallelism } from 'node:os';
import { round, show } from '../print.ts';
import { latency } from './latency.ts';
import { neighbors } from './neighbors.ts';
import { type Sizes, sizesOf } from './sizes.ts';
import { ENDPOINTS, PROJECTS } from './stage.ts';
import { instant, throughput } from './throughput.ts';

const TO = `${PROJECTS * ENDPOINTS} https endpoints of ${PROJECTS} projects`;
const CPU = ['dispatcher CPU', 'PostgreSQL CPU', 'sink CPU'];

const PARTS: Record<string, (sizes: Sizes) => Promise<void>> = {
  async throughput(sizes) {
    const title = `${sizes.throughput.deliveries} deliveries to ${TO} that answer after 50 ms (≥ 1,000 /s); worker, PostgreSQL and sink share ${availableParallelism()} cores`;
    await show(title, ['', 'deliveries /s', ...CPU, 'twice'], () => throughput(sizes));
  },
  async latency(sizes) {
    const title = `From an outcome to its first POST, at ${sizes.latency.perSecond} deliveries a second to ${TO} (p99 ≤ 500 ms)`;
    const header = ['deliveries /s', 'median', 'p95', 'p99', 'most', 'twice', 'not recorded'];
    await show(title, header, () => latency(sizes));
  },
  async instant(sizes) {
    const title = `${sizes.instant.deliveries} deliveries to ${TO} that answer at once, all rows written, to a bare loop of signed POSTs (≥ 0.12)`;
    const header = ['', 'deliveries /s', ...CPU, 'twice', 'the product to it'];
    await show(title, header, () => instant(sizes));
  },
  async neighbors(sizes) {
    const { peak, perSecond, pairs, memory } = await neighbors(sizes);
    const title = `Half of ${TO} dead, slow, dripping, bombing or redirecting, at ${perSecond} deliveries a second, 30 % of ${round(peak)}. Outcome to first POST at the others (p99 ≤ +50 ms, or +25 %), and requests in flight at a bad one (≤ 10)`;
    const header = [
      '',
      'median',
      'beside',
      'p99',
      'beside',
      'more',
      'bad POSTs',
      'at once',
      'connections',
      'undelivered',
    ];
    await show(title, header, () => Promise.resolve(pairs));
    const ofMemory = ['samples', 'first', 'median', 'most', 'last', 'slope a minute'];
    await show('Memory of the worker during these pairs', ofMemory, () => Promise.resolve(memory));
  },
};

/** `npm run bench -- webhooks [part …] [--quick]`. Runs all parts in turn if none is named. */
export async function benchWebhooks(args: string[]): Promise<void> {
  const sizes = sizesOf({ quick: args.includes('--quick') });
  const names = args.filter((arg) => !arg.startsWith('--'));
  for (const name of names)
    if (!PARTS[name]) throw new Error(`There is no part "${name}": ${Object.keys(PARTS).join(', ')}`);
  for (const [name, part] of Object.entries(PARTS))
    if (names.length === 0 || names.includes(name)) await part(sizes);
}
