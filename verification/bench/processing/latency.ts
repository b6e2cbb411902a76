import { formatMsOrNone, round } from '../print.ts';
import { openTestbed, type Testbed, type Project, type Server } from '../testbed.ts';
import { audiences, makePeople, serveAudiences, settle, type World } from '../world.ts';
import { keptUp, type Live, withLive } from './live.ts';
import { backfillEvents, CHUNK, lapsedOf } from './records.ts';
import type { Sizes } from './sizes.ts';
import { type Visibility, visibility, pause } from './visible.ts';
import { waitingOf } from './waiting.ts';

/**
 * Measures the time from the 202 response until the stream shows the event. The load is half of the highest sustainable rate, with and
 * without a concurrent bulk load of 50,000 records. The product runs as one process with all roles; load generator, PostgreSQL, probes and
 * observer share the machine with it.
 */
export async function latency(sizes: Sizes): Promise<{ search: string[][]; rows: string[][] }> {
  const testbed = await openTestbed();
  try {
    const runs = 2 * REPEATS;
    const ownBusy = await busyProject(testbed, sizes, runs);
    const otherBusy = await busyProject(testbed, sizes, runs);
    await settle(testbed.url);
    const api = await testbed.serve('all');
    const live: Live = { testbed, api, projects: [ownBusy.project], perSecond: 0 };
    const { highest, search } = await highestRate(live, sizes);
    const half = { ...live, perSecond: highest / 2 };
    const rows: string[][] = [];
    for (let repeat = 0; repeat < (sizes.quick ? 1 : REPEATS); repeat += 1) {
      const alone = await withLive(half, () => pause(sizes.liveSeconds * 1_000));
      rows.push(row('alone', { ...half, latencies: visibility(alone.samples), oldestMs: alone.oldestMs }));
      for (const [name, world] of [
        ['bulk load of another project', otherBusy],
        ['bulk load of the same project', ownBusy],
      ] as const)
        rows.push(await measureBeside(half, name, { ...world, count: sizes.backfill, run: repeat }));
    }
    return { search, rows };
  } finally {
    await testbed.close();
  }
}

const REPEATS = 3;
export type Busy = { project: Project; world: World };

export async function busyProject(testbed: Testbed, sizes: Sizes, runs: number): Promise<Busy> {
  const project = await testbed.project();
  const lapsed = runs * lapsedOf(Math.max(sizes.backfill, sizes.batchRecords));
  const world = { projectId: project.id, people: sizes.people + lapsed, lapsed, eventsOfEach: 4 };
  await makePeople(testbed, world);
  await serveAudiences(testbed, world, audiences(20));
  return { project, world };
}

const FIRST_RATE = 500;
const STEP = 1.4;
/** The upper limit of the search: the API itself accepts no more on two cores. */
const RATE_MAX = 20_000;
const OLDEST_MAX_MS = 1_000;

/**
 * Finds the highest sustainable rate in steps of ten seconds, each 1.4 times the one before, up to the first that fails. The last sustained
 * rate then has to hold for a minute, or is lowered by a tenth until one does. A rate is sustained if no live record waited for a second
 * and the server accepted the whole load.
 */
async function highestRate(live: Live, sizes: Sizes): Promise<{ highest: number; search: string[][] }> {
  const search: string[][] = [];
  const tryRate = async (perSecond: number, seconds: number): Promise<boolean> => {
    const liveResult = await withLive({ ...live, perSecond }, () => pause(seconds * 1_000));
    const isSustained = liveResult.oldestMs < OLDEST_MAX_MS && keptUp(liveResult.load);
    const latencies = visibility(liveResult.samples);
    search.push([
      `${seconds} s`,
      round(perSecond),
      `${round(liveResult.oldestMs)} ms`,
      formatMsOrNone(latencies?.p95 ?? null),
      isSustained ? 'held' : 'not held',
    ]);
    await untilEmpty(live);
    return isSustained;
  };
  let rate = FIRST_RATE;
  while (rate * STEP <= RATE_MAX && (await tryRate(rate, sizes.stepSeconds))) rate *= STEP;
  rate /= STEP;
  while (rate > 1 && !(await tryRate(rate, sizes.confirmSeconds))) rate *= 0.9;
  return { highest: rate, search };
}

/** Waits for an empty queue, so that one step does not affect the next. */
async function untilEmpty({ testbed, projects }: Live): Promise<void> {
  for (const { id } of projects) while ((await waitingOf(testbed.db, id)) > 0) await pause(50);
}

export type BulkLoad = Busy & { count: number; run: number };

/** Measures the same stream while a bulk load is accepted and processed. Only events accepted in that time count. */
async function measureBeside(live: Live, name: string, bulk: BulkLoad): Promise<string[]> {
  const records = backfillEvents(bulk.world, bulk);
  const liveResult = await withLive(live, async () => {
    const from = performance.now();
    await uploadEvents(live.api, bulk.project, records);
    while (await hasWaitingBulk(live.testbed, bulk.project.id)) await pause(20);
    return { from, to: performance.now() };
  });
  const { from, to } = liveResult.result;
  const seconds = ((to - from) / 1_000).toFixed(1);
  const latencies = visibility(liveResult.samples, liveResult.result);
  return row(`${name}, ${seconds} s`, { ...live, latencies, oldestMs: liveResult.oldestMs });
}

async function hasWaitingBulk({ db }: Testbed, projectId: number): Promise<boolean> {
  const rows = await db.query(
    `SELECT 1 AS waits FROM beckon.ingest_queue WHERE project_id = $1 AND priority = 'bulk' LIMIT 1`,
    [projectId],
  );
  return rows.length > 0;
}

/** Sends requests of a thousand events, one after the other, as an import does. It waits while the queue is full. */
async function uploadEvents(api: Pick<Server, 'port'>, project: Project, records: object[]): Promise<void> {
  for (let at = 0; at < records.length; at += CHUNK) {
    const body = JSON.stringify({ events: records.slice(at, at + CHUNK) });
    while (!(await tryUpload(api, project, body))) await pause(100);
  }
}

/** Returns false if the queue is currently full. */
async function tryUpload(api: Pick<Server, 'port'>, { secret }: Project, body: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${api.port}/api/v1/events/bulk`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${secret}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': crypto.randomUUID(),
    },
    body,
  });
  const text = await answer.text();
  if (answer.ok && text.includes('"rejected":0')) return true;
  if (answer.status === 429 || answer.status === 503) return false;
  throw new Error(`bulk: ${answer.status} ${text}`);
}

type LatencyFigures = { perSecond: number; latencies: Visibility | null; oldestMs: number };

function row(name: string, { perSecond, latencies, oldestMs }: LatencyFigures): string[] {
  return [
    name,
    round(perSecond),
    String(latencies?.samples ?? 0),
    ...[latencies?.p50, latencies?.p95, latencies?.p99, latencies?.max].map((value) =>
      formatMsOrNone(value ?? null),
    ),
    `${round(oldestMs)} ms`,
    String((latencies?.unseen ?? 0) + (latencies?.refused ?? 0)),
  ];
}
