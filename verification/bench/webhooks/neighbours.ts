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
import { ofProduct } from './throughput.ts';

export type Neighbourhood = { peak: number; perSecond: number; pairs: string[][]; memory: string[][] };

const LIMITS = { perSecond: 50, inFlightMax: 10 };
const OF_PEAK = 0.3;
/** Every project has one of each. */
const BAD = ['dead', 'slow', 'drip', 'bomb', 'redirect'] as const;
const SAMPLE_EVERY_MS = 1_000;

export function neighbours({ neighbours: sizes }: Sizes): Promise<Neighbourhood> {
  return onStage(50, async (stage) => {
    await ofProduct(stage, sizes.warmUp);
    const { perSecond: peak } = await ofProduct(stage, sizes.deliveries);
    const perSecond = Math.round(OF_PEAK * peak);
    const street = await openStreet(stage);
    const load = { perSecond, forMs: sizes.forMs };
    const pairs: Pair[] = [];
    const samples: Sample[] = [];
    let sampling: NodeJS.Timeout | undefined;
    for (let i = 0; i < sizes.pairs; i += 1) {
      pairs.push({ good: await street.run('fine', load), bad: await street.run('bad', load) });
      // The first pair warms up.
      sampling ??= setInterval(() => {
        samples.push({ at: performance.now(), rss: usageOf(stage.worker.pid).rssBytes });
      }, SAMPLE_EVERY_MS);
    }
    clearInterval(sampling);
    const memory = samples.length > 1 ? [memoryRow(samples)] : [];
    return { peak, perSecond, pairs: shown(pairs), memory };
  });
}

type Run = BadCount & { p50: number; p99: number; told: number; untold: number };
type Pair = { good: Run; bad: Run };
type Load = { perSecond: number; forMs: number };
type Place = { projectId: number; endpointId: string };
type Street = { run: (neighbours: 'fine' | 'bad', load: Load) => Promise<Run> };

async function openStreet(stage: Stage): Promise<Street> {
  const { ground, projectIds, sink } = stage;
  const { db } = ground;
  const there = await ground.script('verification/bench/webhooks/bad-process.ts');
  const ask = async (what: string): Promise<BadCount> => {
    const answer = await fetch(`http://127.0.0.1:${there.port}/${what}`, { method: 'POST' });
    return (await answer.json()) as BadCount;
  };
  const { port } = await ask('count');
  const unusedPort = await freePort();
  const all: Place[] = [];
  for (const projectId of projectIds)
    for (const { endpoint } of await listEndpoints(db, projectId))
      all.push({ projectId, endpointId: endpoint.id });
  for (const place of all) await changeEndpoint({ db, rules: RULES }, place, LIMITS);
  const theirs = all.filter((_, i) => i % ENDPOINTS >= ENDPOINTS / 2);

  async function become(neighbourhood: 'fine' | 'bad'): Promise<void> {
    for (const [i, place] of theirs.entries()) {
      const kind = neighbourhood === 'fine' ? 'fine' : (BAD[i % BAD.length] ?? 'dead');
      const url = `https://127.0.0.1:${kind === 'dead' ? unusedPort : port}/${kind}/${place.endpointId}`;
      await changeEndpoint({ db, rules: RULES }, place, { url });
    }
  }
  return {
    async run(neighbourhood, load) {
      await become(neighbourhood);
      await Promise.all([sink.forget(), ask('forget')]);
      await pourEvenly(stage, load);
      await toldBut(stage, theirs);
      const [{ ages }, counts] = await Promise.all([sink.count(), ask('count')]);
      const untold = await untoldBut(stage, theirs);
      await calm(stage, theirs);
      const [p50, p99] = [quantile(ages, 0.5), quantile(ages, 0.99)];
      return { ...counts, p50, p99, told: ages.length, untold };
    },
  };
}

const RULES = { allowPrivate: true };
const LOOK_EVERY_MS = 100;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => void setTimeout(resolve, LOOK_EVERY_MS));
}

/** Waits until no delivery is pending except to these endpoints. */
async function toldBut({ ground: { db } }: Stage, theirs: Place[]): Promise<void> {
  await until(async () => {
    const rows = await db.query(
      `SELECT 1 FROM beckon.webhook_delivery WHERE next_at IS NOT NULL AND endpoint_id <> ALL ($1::uuid[]) LIMIT 1`,
      [idsOf(theirs)],
    );
    return rows.length === 0;
  });
}

/** Counts deliveries to other endpoints that did not succeed at the first attempt. */
async function untoldBut({ ground: { db } }: Stage, theirs: Place[]): Promise<number> {
  const [row] = await db.query<{ wrong: number }>(
    `SELECT count(*) AS wrong FROM beckon.webhook_delivery
     WHERE endpoint_id <> ALL ($1::uuid[]) AND (state <> 'delivered' OR attempts <> 1)`,
    [idsOf(theirs)],
  );
  return row?.wrong ?? 0;
}

/** Cancels the pending deliveries of these endpoints, waits for those under way, and resets the endpoints' health. */
async function calm({ ground: { db } }: Stage, theirs: Place[]): Promise<void> {
  await until(async () => {
    await db.query(
      `UPDATE beckon.webhook_delivery SET state = 'canceled', next_at = NULL
       WHERE state = 'pending' AND next_at IS NOT NULL AND endpoint_id = ANY ($1::uuid[])`,
      [idsOf(theirs)],
    );
    return (
      (await db.query(`SELECT 1 FROM beckon.webhook_delivery WHERE next_at IS NOT NULL LIMIT 1`)).length === 0
    );
  });
  await db.query(
    `UPDATE beckon.webhook_health SET open_until = NULL, windows = '[]', failing_since = NULL, failures = 0 WHERE endpoint_id = ANY ($1::uuid[])`,
    [idsOf(theirs)],
  );
}

function idsOf(places: Place[]): string[] {
  return places.map(({ endpointId }) => endpointId);
}

function shown(pairs: Pair[]): string[][] {
  const good = median(pairs.map((pair) => pair.good.p99));
  const bad = median(pairs.map((pair) => pair.bad.p99));
  const rows = pairs.map((pair, i) => {
    const { good: alone, bad: beside } = pair;
    const figures = [alone.p50, beside.p50, alone.p99, beside.p99, beside.p99 - alone.p99];
    const counts = [beside.posts, beside.requestsMost, beside.connectionsMost, alone.untold + beside.untold];
    return [`pair ${i + 1}`, ...figures.map((figure) => `${round(figure)} ms`), ...counts.map(round)];
  });
  const grown = `${round(bad - good)} ms, ${percent(bad / good - 1)}`;
  return [...rows, ['median', '', '', `${round(good)} ms`, `${round(bad)} ms`, grown]];
}
