import { preload } from '../processing/records.ts';
import { pause } from '../processing/visible.ts';
import { median, usageOf, usageOfTree } from '../measure.ts';
import { micros, ratio, round } from '../print.ts';
import { type Testbed, openTestbed, type Project, type Server } from '../testbed.ts';
import { addInactiveUsers, makePeople, settle, userOf } from '../world.ts';

/**
 * Measures what a second worker adds if there is only processing to do: waiting records of many projects, without concurrent load. Both
 * workers run and are warm; in the runs of one the other is paused. The cores limit what two can reach. If one worker and its PostgreSQL
 * keep 1.6 of two cores busy, two are not twice as fast.
 */
const FULL = { projects: 200, records: 200_000, pairs: 5 };
const QUICK = { projects: 10, records: 4_000, pairs: 1 };
const [CORES, SHARE] = [2, 0.8];
const PEOPLE = 50;

type Sizes = typeof FULL;
/** `cpu`: seconds per record. `cores`: how many cores the workers and PostgreSQL kept busy. */
type Run = { perSecond: number; cpu: number; cores: number };
type Side = { testbed: Testbed; projects: Project[]; workers: [Server, Server]; sizes: Sizes };

export async function secondWorker({ quick }: { quick: boolean }): Promise<string[][]> {
  const sizes = quick ? QUICK : FULL;
  const testbed = await openTestbed();
  try {
    const projects = await fill(testbed, sizes);
    const workers: [Server, Server] = [await testbed.serve('worker'), await testbed.serve('worker')];
    const side = { testbed, projects, workers, sizes };
    await processRecords(side, { both: true, run: 0 });
    const rows: string[][] = [];
    const measurements: { rate: number; target: number; cpu: number }[] = [];
    for (let pair = 1; pair <= sizes.pairs; pair += 1) {
      const oneWorker = await processRecords(side, { both: false, run: 2 * pair });
      const twoWorkers = await processRecords(side, { both: true, run: 2 * pair + 1 });
      const target = SHARE * Math.min(2, CORES / oneWorker.cores);
      const [rate, cpu] = [twoWorkers.perSecond / oneWorker.perSecond, twoWorkers.cpu / oneWorker.cpu];
      measurements.push({ rate, target, cpu });
      rows.push([
        `pair ${pair}`,
        ...[oneWorker, twoWorkers].map(({ perSecond }) => round(perSecond)),
        ...[rate, target, oneWorker.cores].map(ratio),
        ...[oneWorker, twoWorkers].map((run) => micros(run.cpu * 1e6)),
        ratio(cpu),
      ]);
    }
    const medianOf = (name: 'rate' | 'target' | 'cpu'): string =>
      ratio(median(measurements.map((each) => each[name])));
    return [...rows, ['median', '', '', medianOf('rate'), medianOf('target'), '', '', '', medianOf('cpu')]];
  } finally {
    await testbed.close();
  }
}

async function fill(testbed: Testbed, sizes: Sizes): Promise<Project[]> {
  const projects: Project[] = [];
  for (let i = 0; i < sizes.projects; i += 1) {
    const project = await testbed.project();
    projects.push(project);
    if (i === 0) await makePeople(testbed, { projectId: project.id, people: 0, lapsed: 0, eventsOfEach: 0 });
    await addInactiveUsers(testbed, { projectId: project.id, from: 0, count: PEOPLE });
  }
  await settle(testbed.url);
  return projects;
}

async function processRecords(side: Side, { both, run }: { both: boolean; run: number }): Promise<Run> {
  const { testbed, projects, workers, sizes } = side;
  const [first, second] = workers;
  const perProject = sizes.records / sizes.projects;
  for (const { pid } of workers) process.kill(pid, 'SIGSTOP');
  for (const { id: projectId } of projects)
    await preload(testbed.db, { projectId, kind: 'events', records: eventsOf(perProject, run) });
  await settle(testbed.url);
  const cpuNow = (): number =>
    usageOf(first.pid).cpuSeconds +
    usageOf(second.pid).cpuSeconds +
    usageOfTree(testbed.postgresPid).cpuSeconds;
  process.kill(first.pid, 'SIGCONT');
  if (both) process.kill(second.pid, 'SIGCONT');
  // A worker without work looks for it once a second, so the time counts from the first batch.
  let waiting = sizes.records;
  while (waiting === sizes.records) waiting = await countWaiting(testbed);
  const [records, startedAt, cpuBefore] = [waiting, performance.now(), cpuNow()];
  while (waiting > 0) {
    await pause(10);
    waiting = await countWaiting(testbed);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuSeconds = cpuNow() - cpuBefore;
  // The worker must not be stopped in the middle of work that others would wait for.
  process.kill(second.pid, 'SIGCONT');
  await pause(200);
  return { perSecond: records / seconds, cpu: cpuSeconds / records, cores: cpuSeconds / seconds };
}

function eventsOf(count: number, run: number): object[] {
  const at = new Date().toISOString();
  return Array.from({ length: count }, (_, i) => ({
    external_user_id: userOf(i % PEOPLE),
    name: 'feature_used',
    properties: { feature: 'export', place: `${run}-${i}` },
    occurred_at: at,
  }));
}

async function countWaiting({ db }: Testbed): Promise<number> {
  const [row] = await db.query<{ waiting: number }>(
    'SELECT coalesce(sum(waiting), 0)::int AS waiting FROM beckon.ingest_queue_state',
  );
  return row?.waiting ?? 0;
}
