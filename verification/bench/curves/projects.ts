import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import { preload } from '../processing/records.ts';
import { pause } from '../processing/visible.ts';
import { type Testbed, openTestbed, type Project, type Server } from '../testbed.ts';
import { addInactiveUsers, makePeople, settle, userOf } from '../world.ts';

/** Measures the same number of events about the same number of users, spread over this many projects. The first run warms up. */
export async function costInProjects(options: {
  projects: number;
  records: number;
  runs: number;
}): Promise<number[]> {
  const testbed = await openTestbed();
  try {
    const projects = await fill(testbed, options.projects);
    const worker = await testbed.serve('worker');
    const costs: number[] = [];
    for (let run = 0; run <= options.runs; run += 1) {
      const cost = await costOf({ testbed, worker, projects }, options.records, run);
      if (run > 0) costs.push(cost);
    }
    return costs;
  } finally {
    await testbed.close();
  }
}

const PEOPLE = 2_000;

async function fill(testbed: Testbed, count: number): Promise<Project[]> {
  const projects: Project[] = [];
  for (let i = 0; i < count; i += 1) {
    const project = await testbed.project();
    projects.push(project);
    const people = Math.max(1, Math.floor(PEOPLE / count));
    if (i === 0) await makePeople(testbed, { projectId: project.id, people: 0, lapsed: 0, eventsOfEach: 0 });
    await addInactiveUsers(testbed, { projectId: project.id, from: 0, count: people });
  }
  await settle(testbed.url);
  return projects;
}

type Side = { testbed: Testbed; worker: Server; projects: Project[] };

/** The worker is paused while its records are written, so that it finds them all at once. */
async function costOf({ testbed, worker, projects }: Side, records: number, run: number): Promise<number> {
  const { db, postgresPid } = testbed;
  const each = Math.floor(records / projects.length);
  process.kill(worker.pid, 'SIGSTOP');
  for (const { id: projectId } of projects)
    await preload(db, { projectId, kind: 'events', records: eventsOf({ each, projects, run }) });
  const cpuNow = (): number => usageOf(worker.pid).cpuSeconds + usageOfTree(postgresPid).cpuSeconds;
  const before = { ...usageOf(worker.pid), cpuSeconds: cpuNow() };
  process.kill(worker.pid, 'SIGCONT');
  while (await hasWaiting(testbed)) await pause(20);
  return (cpuBetween(before, { ...before, cpuSeconds: cpuNow() }) / (each * projects.length)) * 1e6;
}

function eventsOf({ each, projects, run }: { each: number; projects: Project[]; run: number }): object[] {
  const people = Math.max(1, Math.floor(PEOPLE / projects.length));
  const at = new Date().toISOString();
  return Array.from({ length: each }, (_, i) => ({
    external_user_id: userOf(i % people),
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
