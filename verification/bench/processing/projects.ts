import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { micros, formatMsOrNone, ratio, round } from '../print.ts';
import { type Testbed, openTestbed, type Project, type Server } from '../testbed.ts';
import { makePeople, ofEvent, serveAudiences, settle } from '../world.ts';
import { keptUp, type Live, withLive } from './live.ts';
import type { Sizes } from './sizes.ts';
import { pause, visibility } from './visible.ts';
import { waitingOf } from './waiting.ts';

/**
 * Compares a thousand projects that send five events per second each with one that sends five thousand. API and worker are two processes
 * here, so that their CPU times are separate; load generator, probes, observer and PostgreSQL share the machine. Every project has the five
 * audiences that use the event.
 */
export async function projects(sizes: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const all: Project[] = [];
    for (let i = 0; i < sizes.projects; i += 1) all.push(await testbed.project());
    const first = all[0];
    if (!first) throw new Error('no projects');
    const none = { projectId: first.id, people: 0, lapsed: 0, eventsOfEach: 0 };
    await makePeople(testbed, none);
    await serveAudiences(testbed, none, ofEvent('feature_used'));
    await copyAudiences(testbed, first.id);
    await settle(testbed.url);
    const api = await testbed.serve('api');
    const worker = await testbed.serve('worker');
    const perSecond = sizes.projects * sizes.eventsOfEach;
    const run = (subset: Project[]): Promise<Cost> =>
      cost({ live: { testbed, api, projects: subset, perSecond }, worker, seconds: sizes.liveSeconds });
    // Creates all users and warms both sides.
    await run(all);
    const rows: string[][] = [];
    const ratios: number[] = [];
    for (let pair = 1; pair <= Math.min(3, sizes.pairs); pair += 1) {
      const single = await run([first]);
      const several = await run(all);
      ratios.push(several.processingMicros / single.processingMicros);
      rows.push(['one project', ...formatCost(single), '']);
      rows.push([
        `${sizes.projects} projects`,
        ...formatCost(several),
        ratio(several.processingMicros / single.processingMicros),
      ]);
    }
    return [...rows, ['median', '', '', '', '', '', '', '', ratio(median(ratios))]];
  } finally {
    await testbed.close();
  }
}

/** Copies the first project's audiences to every other project. */
async function copyAudiences({ db }: Testbed, from: number): Promise<void> {
  await db.query(
    `INSERT INTO beckon.audience (project_id, id, name, created_at, updated_at)
     SELECT t.project_id, gen_random_uuid(), a.name, a.created_at, a.updated_at
     FROM beckon.audience a CROSS JOIN beckon.project_lock t WHERE a.project_id = $1 AND t.project_id <> $1`,
    [from],
  );
  await db.query(
    `INSERT INTO beckon.audience_version (project_id, version_id, audience_id, state, definition, members, users, built, created_at)
     SELECT b.project_id, e.version_id, b.id, e.state, e.definition, 0, 0, 0, e.created_at
     FROM beckon.audience_version e JOIN beckon.audience a ON a.project_id = e.project_id AND a.id = e.audience_id
     JOIN beckon.audience b ON b.name = a.name AND b.project_id <> $1 WHERE e.project_id = $1`,
    [from],
  );
  await db.query(
    `INSERT INTO beckon.counted_event (project_id, name, is_whole)
     SELECT t.project_id, c.name, c.is_whole FROM beckon.counted_event c CROSS JOIN beckon.project_lock t
     WHERE c.project_id = $1 AND t.project_id <> $1`,
    [from],
  );
  await db.query(
    `UPDATE beckon.project_lock SET model = (SELECT model FROM beckon.project_lock WHERE project_id = $1) + 1`,
    [from],
  );
}

type Cost = {
  perSecond: number;
  p95: number | null;
  p99: number | null;
  oldestMs: number;
  apiMicros: number;
  processingMicros: number;
  keptUp: boolean;
};

async function cost(run: { live: Live; worker: Server; seconds: number }): Promise<Cost> {
  const { live, worker, seconds } = run;
  const { testbed, api } = live;
  const used = (): Used => ({
    api: usageOf(api.pid),
    worker: usageOf(worker.pid),
    postgres: usageOfTree(testbed.postgresPid),
  });
  const result = await withLive(live, async () => {
    const before = { ...used(), events: await eventsOf(testbed), at: performance.now() };
    await pause(seconds * 1_000);
    return { before, after: { ...used(), events: await eventsOf(testbed), at: performance.now() } };
  });
  for (const { id } of live.projects) while ((await waitingOf(testbed.db, id)) > 0) await pause(50);
  const { before, after } = result.result;
  const events = after.events - before.events;
  const latencies = visibility(result.samples, { from: before.at, to: after.at });
  const processingCpu = cpuBetween(before.worker, after.worker) + cpuBetween(before.postgres, after.postgres);
  return {
    perSecond: (events / (after.at - before.at)) * 1_000,
    p95: latencies?.p95 ?? null,
    p99: latencies?.p99 ?? null,
    oldestMs: result.oldestMs,
    apiMicros: (cpuBetween(before.api, after.api) / events) * 1e6,
    processingMicros: (processingCpu / events) * 1e6,
    keptUp: keptUp(result.load),
  };
}

type Used = Record<'api' | 'worker' | 'postgres', ReturnType<typeof usageOf>>;

/** Counts processed events: the CPU time belongs to the events that were processed, not to those that were sent. */
async function eventsOf({ db }: Testbed): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `SELECT coalesce(sum(count), 0)::float8 AS count FROM beckon.event_volume`,
  );
  return rows[0]?.count ?? 0;
}

function formatCost(cost: Cost): string[] {
  return [
    round(cost.perSecond),
    formatMsOrNone(cost.p95),
    formatMsOrNone(cost.p99),
    `${round(cost.oldestMs)} ms`,
    cost.keptUp ? 'yes' : 'no',
    micros(cost.apiMicros),
    micros(cost.processingMicros),
  ];
}
