import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import { preload } from '../digest/records.ts';
import { pause } from '../digest/visible.ts';
import { type Ground, openGround, type Project, type Server } from '../stage.ts';
import { addSilent, makePeople, settle, userOf } from '../world.ts';

/** Measures the same number of events about the same number of users, spread over this many projects. The first run warms up. */
export async function costInProjects(asked: {
  projects: number;
  records: number;
  runs: number;
}): Promise<number[]> {
  const ground = await openGround();
  try {
    const projects = await fill(ground, asked.projects);
    const worker = await ground.serve('worker');
    const costs: number[] = [];
    for (let run = 0; run <= asked.runs; run += 1) {
      const cost = await costOf({ ground, worker, projects }, asked.records, run);
      if (run > 0) costs.push(cost);
    }
    return costs;
  } finally {
    await ground.close();
  }
}

const PEOPLE = 2_000;

async function fill(ground: Ground, count: number): Promise<Project[]> {
  const projects: Project[] = [];
  for (let i = 0; i < count; i += 1) {
    const project = await ground.project();
    projects.push(project);
    const people = Math.max(1, Math.floor(PEOPLE / count));
    if (i === 0) await makePeople(ground, { projectId: project.id, people: 0, lapsed: 0, eventsOfEach: 0 });
    await addSilent(ground, { projectId: project.id, from: 0, count: people });
  }
  await settle(ground.url);
  return projects;
}

type Side = { ground: Ground; worker: Server; projects: Project[] };

/** The worker is paused while its records are written, so that it finds them all at once. */
async function costOf({ ground, worker, projects }: Side, records: number, run: number): Promise<number> {
  const { db, postgresPid } = ground;
  const each = Math.floor(records / projects.length);
  process.kill(worker.pid, 'SIGSTOP');
  for (const { id: projectId } of projects)
    await preload(db, { projectId, kind: 'events', records: eventsOf({ each, projects, run }) });
  const used = (): number => usageOf(worker.pid).cpuSeconds + usageOfTree(postgresPid).cpuSeconds;
  const before = { ...usageOf(worker.pid), cpuSeconds: used() };
  process.kill(worker.pid, 'SIGCONT');
  while (await isWaiting(ground)) await pause(20);
  return (cpuBetween(before, { ...before, cpuSeconds: used() }) / (each * projects.length)) * 1e6;
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

async function isWaiting({ db }: Ground): Promise<boolean> {
  return (
    (await db.query('SELECT 1 AS one FROM beckon.ingest_queue_state WHERE waiting > 0 LIMIT 1')).length > 0
  );
}
