/**
 * Measures the same endpoints at the same load, in turn with healthy neighbors and with failing neighbors. Half of each project's endpoints
 * are neighbors. All have the default limits of an endpoint.
 */

import { freePort } from '../../../packages/server/testing/servers/free-port.ts';
import { listEndpoints } from '../../../packages/server/src/modules/webhooks/endpoints/reads.ts';
import { changeEndpoint } from '../../../packages/server/src/modules/webhooks/endpoints/change-endpoint.ts';
import { median, quantile, usageOf } from '../measure.ts';
import { percent, round } from '../print.ts';
import { memoryRow, type Sample } from '../send/memory.ts';
import type { BadCount } from './bad-process.ts';
import { pourEvenly } from './latency.ts';
import type { Sizes } from './sizes.ts';
import { ENDPOINTS, onStage, type Stage } from './stage.ts';
import { measureProduct } from './throughput.ts';

export type Neighborhood = { peak: number; perSecond: number; pairs: string[][]; memory: string[][] };

const LIMITS = { perSecond: 50, inFlightMax: 10 };
const OF_PEAK = 0.3;
/** Every project has one of each. */
const BAD = ['dead', 'slow', 'drip', 'bomb', 'redirect'] as const;
const SAMPLE_EVERY_MS = 1_000;

export function neighbors({ neighbors: sizes }: Sizes): Promise<Neighborhood> {
  return onStage(50, async (stage) => {
    await measureProduct(stage, sizes.warmUp);
    const { perSecond: peak } = await measureProduct(stage, sizes.deliveries);
    const perSecond = Math.round(OF_PEAK * peak);
    const group = await openEndpointGroup(stage);
    const load = { perSecond, forMs: sizes.forMs };
    const pairs: Pair[] = [];
    const samples: Sample[] = [];
    let sampling: NodeJS.Timeout | undefined;
    for (let i = 0; i < sizes.pairs; i += 1) {
      pairs.push({ good: await group.run('fine', load), bad: await group.run('bad', load) });
      // The first pair warms up.
      sampling ??= setInterval(() => {
        samples.push({ at: performance.now(), rss: usageOf(stage.worker.pid).rssBytes });
      }, SAMPLE_EVERY_MS);
    }
    clearInterval(sampling);
    const memory = samples.length > 1 ? [memoryRow(samples)] : [];
    return { peak, perSecond, pairs: formatPairs(pairs), memory };
  });
}

type Run = BadCount & { p50: number; p99: number; delivered: number; undelivered: number };
type Pair = { good: Run; bad: Run };
type Load = { perSecond: number; forMs: number };
type EndpointRef = { projectId: number; endpointId: string };
type EndpointGroup = { run: (neighbors: 'fine' | 'bad', load: Load) => Promise<Run> };

async function openEndpointGroup(stage: Stage): Promise<EndpointGroup> {
  const { testbed, projectIds, sink } = stage;
  const { db } = testbed;
  const badEndpoints = await testbed.script('verification/bench/webhooks/bad-process.ts');
  const command = async (what: string): Promise<BadCount> => {
    const answer = await fetch(`http://127.0.0.1:${badEndpoints.port}/${what}`, { method: 'POST' });
    return (await answer.json()) as BadCount;
  };
  const { port } = await command('count');
  const unusedPort = await freePort();
  const all: EndpointRef[] = [];
  for (const projectId of projectIds)
    for (const { endpoint } of await listEndpoints(db, projectId))
      all.push({ projectId, endpointId: endpoint.id });
  for (const endpoint of all) await changeEndpoint({ db, rules: RULES }, endpoint, LIMITS);
  const badOnes = all.filter((_, i) => i % ENDPOINTS >= ENDPOINTS / 2);

  async function become(neighborhood: 'fine' | 'bad'): Promise<void> {
    for (const [i, endpoint] of badOnes.entries()) {
      const kind = neighborhood === 'fine' ? 'fine' : (BAD[i % BAD.length] ?? 'dead');
      const url = `https://127.0.0.1:${kind === 'dead' ? unusedPort : port}/${kind}/${endpoint.endpointId}`;
      await changeEndpoint({ db, rules: RULES }, endpoint, { url });
    }
  }
  return {
    async run(neighborhood, load) {
      await become(neighborhood);
      await Promise.all([sink.forget(), command('forget')]);
      await pourEvenly(stage, load);
      await untilDeliveredExcept(stage, badOnes);
      const [{ ages }, counts] = await Promise.all([sink.count(), command('count')]);
      const undelivered = await countUndeliveredExcept(stage, badOnes);
      await calm(stage, badOnes);
      const [p50, p99] = [quantile(ages, 0.5), quantile(ages, 0.99)];
      return { ...counts, p50, p99, delivered: ages.length, undelivered };
    },
  };
}

const RULES = { allowPrivate: true };
const POLL_MS = 100;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => void setTimeout(resolve, POLL_MS));
}

/** Waits until no delivery is pending except to these endpoints. */
async function untilDeliveredExcept({ testbed: { db } }: Stage, badOnes: EndpointRef[]): Promise<void> {
  await until(async () => {
    const rows = await db.query(
      `SELECT 1 FROM beckon.webhook_delivery WHERE next_at IS NOT NULL AND endpoint_id <> ALL ($1::uuid[]) LIMIT 1`,
      [idsOf(badOnes)],
    );
    return rows.length === 0;
  });
}

/** Counts deliveries to other endpoints that did not succeed at the first attempt. */
async function countUndeliveredExcept({ testbed: { db } }: Stage, badOnes: EndpointRef[]): Promise<number> {
  const [row] = await db.query<{ wrong: number }>(
    `SELECT count(*) AS wrong FROM beckon.webhook_delivery
     WHERE endpoint_id <> ALL ($1::uuid[]) AND (state <> 'delivered' OR attempts <> 1)`,
    [idsOf(badOnes)],
  );
  return row?.wrong ?? 0;
}

/** Cancels the pending deliveries of these endpoints, waits for those under way, and resets the endpoints' health. */
async function calm({ testbed: { db } }: Stage, badOnes: EndpointRef[]): Promise<void> {
  await until(async () => {
    await db.query(
      `UPDATE beckon.webhook_delivery SET state = 'canceled', next_at = NULL
       WHERE state = 'pending' AND next_at IS NOT NULL AND endpoint_id = ANY ($1::uuid[])`,
      [idsOf(badOnes)],
    );
    return (
      (await db.query(`SELECT 1 FROM beckon.webhook_delivery WHERE next_at IS NOT NULL LIMIT 1`)).length === 0
    );
  });
  await db.query(
    `UPDATE beckon.webhook_health SET open_until = NULL, windows = '[]', failing_since = NULL, failures = 0 WHERE endpoint_id = ANY ($1::uuid[])`,
    [idsOf(badOnes)],
  );
}

function idsOf(places: EndpointRef[]): string[] {
  return places.map(({ endpointId }) => endpointId);
}

function formatPairs(pairs: Pair[]): string[][] {
  const good = median(pairs.map((pair) => pair.good.p99));
  const bad = median(pairs.map((pair) => pair.bad.p99));
  const rows = pairs.map((pair, i) => {
    const { good: alone, bad: withBad } = pair;
    const figures = [alone.p50, withBad.p50, alone.p99, withBad.p99, withBad.p99 - alone.p99];
    const counts = [
      withBad.posts,
      withBad.requestsMost,
      withBad.connectionsMost,
      alone.undelivered + withBad.undelivered,
    ];
    return [`pair ${i + 1}`, ...figures.map((figure) => `${round(figure)} ms`), ...counts.map(round)];
  });
  const grown = `${round(bad - good)} ms, ${percent(bad / good - 1)}`;
  return [...rows, ['median', '', '', `${round(good)} ms`, `${round(bad)} ms`, grown]];
}
