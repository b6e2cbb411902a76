import { preload } from '../processing/records.ts';
import { pause } from '../processing/visible.ts';
import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
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
type Run = { seconds: number; cpu: number };
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
      const busy = oneWorker.cpu / oneWorker.seconds;
      const target = SHARE * Math.min(2, CORES / busy);
      const [rate, cpu] = [oneWorker.seconds / twoWorkers.seconds, twoWorkers.cpu / oneWorker.cpu];
      measurements.push({ rate, target, cpu });
      rows.push([
        `pair ${pair}`,
        ...ratesOf(sizes, oneWorker, twoWorkers),
        ratio(target),
        ratio(busy),
        ...costs(sizes, oneWorker, twoWorkers),
      ]);
    }
    const medianOf = (name: 'rate' | 'target' | 'cpu'): string =>
      ratio(median(measurements.map((each) => each[name])));
    return [...rows, ['median', '', '', medianOf('rate'), medianOf('target'), '', '', '', medianOf('cpu')]];
  } finally {
    await testbed.close();
  }
}

function ratesOf({ records }: Sizes, single: Run, double: Run): string[] {
  return [
    round(records / single.seconds),
    round(records / double.seconds),
    ratio(single.seconds / double.seconds),
  ];
}

function costs({ records }: Sizes, single: Run, double: Run): string[] {
  return [
    micros((single.cpu / records) * 1e6),
    micros((double.cpu / records) * 1e6),
    ratio(double.cpu / single.cpu),
  ];
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
  const before = { ...usageOf(first.pid), cpuSeconds: cpuNow() };
  const startedAt = performance.now();
  process.kill(first.pid, 'SIGCONT');
  if (both) process.kill(second.pid, 'SIGCONT');
  while (await hasWaiting(testbed)) await pause(10);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = cpuBetween(before, { ...before, cpuSeconds: cpuNow() });
  // The worker must not be stopped in the middle of work that others would wait for.
  process.kill(second.pid, 'SIGCONT');
  await pause(200);
  return { seconds, cpu };
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

async function hasWaiting({ db }: Testbed): Promise<boolean> {
  return (
    (await db.query('SELECT 1 AS one FROM beckon.ingest_queue_state WHERE waiting > 0 LIMIT 1')).length > 0
  );
}
