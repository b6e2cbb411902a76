import { Beckon } from '../../../packages/client/src/index.ts';
import { countNumbered, sendNumbered } from '../../../packages/client/testkit/exactly-once.ts';
import { startHostileProxy } from '../../../packages/client/testkit/hostile-proxy.ts';
import { round, show } from '../print.ts';
import { openTestbed } from '../testbed.ts';

const EVENTS = 100_000;
const QUICK_EVENTS = 10_000;

/**
 * `npm run bench -- client [--quick]`: sends events through a hostile network into the product, singly, in batches and in bulk. Counts the
 * events that are in the database afterwards.
 */
export async function benchClient(args: string[]): Promise<void> {
  const events = args.includes('--quick') ? QUICK_EVENTS : EVENTS;
  await show(
    `${events} events through a network at its worst (each arrives, and counts once)`,
    ['', 'sent', 'in the database', 'different', 'requests', 'failed requests', 's'],
    () => hostile(events),
  );
}

async function hostile(count: number): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const { id, secret } = await testbed.project();
    const { port } = await testbed.serve('all');
    const upstream = `http://127.0.0.1:${port}`;
    const proxy = await startHostileProxy({ upstream, share: 0.3, seed: 7, lateMs: 3_000 });
    const beckon = new Beckon({
      apiKey: secret,
      url: proxy.url,
      timeoutMs: 2_000,
      retry: { attempts: 100, totalMs: 10 * 60_000 },
    });
    const load = { bulk: count * 0.7, singles: count * 0.1, batches: count * 0.2 };
    const startedAt = performance.now();
    await sendNumbered(beckon, load);
    const seconds = (performance.now() - startedAt) / 1_000;
    const arrived = await countNumbered(testbed.db, id);
    await proxy.close();
    const { none, ...failures } = proxy.met;
    const requests = Object.values(proxy.met).reduce((sum, each) => sum + each, 0);
    const sent: Record<string, number> = { bulk: load.bulk, single: load.singles, batch: load.batches };
    return arrived.map(({ name, events, different }) => {
      if (events !== sent[name] || different !== sent[name])
        throw new Error(`${events} of ${sent[name]} ${name} events arrived, ${different} of them different`);
      return [
        name,
        round(sent[name] ?? 0),
        round(events),
        round(different),
        round(requests),
        `${round(requests - none)} (${Object.keys(failures).length} kinds)`,
        seconds.toFixed(1),
      ];
    });
  } finally {
    await testbed.close();
  }
}
