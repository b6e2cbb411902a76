import { preload } from '../digest/records.ts';
import { pause } from '../digest/visible.ts';
import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { micros, ratio, round } from '../print.ts';
import { type Ground, openGround, type Project, type Server } from '../stage.ts';
import { addSilent, makePeople, settle, userOf } from '../world.ts';

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
type Side = { ground: Ground; projects: Project[]; workers: [Server, Server]; sizes: Sizes };

export async function secondWorker({ quick }: { quick: boolean }): Promise<string[][]> {
  const sizes = quick ? QUICK : FULL;
  const ground = await openGround();
  try {
    const projects = await fill(ground, sizes);
    const workers: [Server, Server] = [await ground.serve('worker'), await ground.serve('worker')];
    const side = { ground, projects, workers, sizes };
    await digest(side, { both: true, run: 0 });
    const rows: string[][] = [];
    const seen: { rate: number; aim: number; cpu: number }[] = [];
    for (let pair = 1; pair <= sizes.pairs; pair += 1) {
      const one = await digest(side, { both: false, run: 2 * pair });
      const two = await digest(side, { both: true, run: 2 * pair + 1 });
      const busy = one.cpu / one.seconds;
      const aim = SHARE * Math.min(2, CORES / busy);
      const [rate, cpu] = [one.seconds / two.seconds, two.cpu / one.cpu];
      seen.push({ rate, aim, cpu });
      rows.push([
        `pair ${pair}`,
        ...shown(sizes, one, two),
        ratio(aim),
        ratio(busy),
        ...costs(sizes, one, two),
      ]);
    }
    const of = (name: 'rate' | 'aim' | 'cpu'): string => ratio(median(seen.map((each) => each[name])));
    return [...rows, ['median', '', '', of('rate'), of('aim'), '', '', '', of('cpu')]];
  } finally {
    await ground.close();
  }
}

function shown({ records }: Sizes, one: Run, two: Run): string[] {
  return [round(records / one.seconds), round(records / two.seconds), ratio(one.seconds / two.seconds)];
}

function costs({ records }: Sizes, one: Run, two: Run): string[] {
  return [micros((one.cpu / records) * 1e6), micros((two.cpu / records) * 1e6), ratio(two.cpu / one.cpu)];
}

async function fill(ground: Ground, sizes: Sizes): Promise<Project[]> {
  const projects: Project[] = [];
  for (let i = 0; i < sizes.projects; i += 1) {
    const project = await ground.project();
    projects.push(project);
    if (i === 0) await makePeople(ground, { projectId: project.id, people: 0, lapsed: 0, eventsOfEach: 0 });
    await addSilent(ground, { projectId: project.id, from: 0, count: PEOPLE });
  }
  await settle(ground.url);
  return projects;
}

async function digest(side: Side, { both, run }: { both: boolean; run: number }): Promise<Run> {
  const { ground, projects, workers, sizes } = side;
  const [first, second] = workers;
  const each = sizes.records / sizes.projects;
  for (const { pid } of workers) process.kill(pid, 'SIGSTOP');
  for (const { id: projectId } of projects)
    await preload(ground.db, { projectId, kind: 'events', records: eventsOf(each, run) });
  await settle(ground.url);
  const used = (): number =>
    usageOf(first.pid).cpuSeconds +
    usageOf(second.pid).cpuSeconds +
    usageOfTree(ground.postgresPid).cpuSeconds;
  const before = { ...usageOf(first.pid), cpuSeconds: used() };
  const startedAt = performance.now();
  process.kill(first.pid, 'SIGCONT');
  if (both) process.kill(second.pid, 'SIGCONT');
  while (await isWaiting(ground)) await pause(10);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = cpuBetween(before, { ...before, cpuSeconds: used() });
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

async function isWaiting({ db }: Ground): Promise<boolean> {
  return (
    (await db.query('SELECT 1 AS one FROM beckon.ingest_queue_state WHERE waiting > 0 LIMIT 1')).length > 0
  );
}
