import { runLoad } from '../load/index.ts';
import { progress } from '../fill.ts';
import { costBetween, type CpuCost, totalCost, type UsagePair, usagePair } from '../measure.ts';
import { pause } from '../processing/visible.ts';
import { singleEvents } from '../accept/singles.ts';
import type { Server } from '../testbed.ts';
import { acceptCost, addCosts, type Calibration, processingCost, scaleCost } from './costs.ts';
import { addKeys, type ManyProjects, openManyProjects, queueEvents, storedBytes } from './many-projects.ts';

export type RunSizes = {
  calibration: {
    projects: number;
    /** More keys in all than a process remembers. */
    keysPerProject: number;
    sharedBy: number;
    rounds: number;
  };
  predicted: { projects: number; each: number };
  seconds: number;
  idleSeconds: number;
};

/** The figures of a number of projects, predicted or measured. */
export type Figures = {
  accept: CpuCost;
  process: CpuCost;
  storedBytes: number;
};

const CONNECTIONS = 64;

/** Measures the costs with few projects. */
export async function calibrate({ calibration, seconds }: RunSizes): Promise<Calibration> {
  const { projects: count, keysPerProject, sharedBy, rounds } = calibration;
  const [empty, few] = [await bytesOf(1), await openManyProjects(count)];
  try {
    const projectBytes = ((await storedBytes(few)) - empty) / (count - 1);
    const acceptKnownKey = await acceptCostOf(few, few.secrets, seconds);
    const acceptUnknownKey = await acceptCostOf(few, await addKeys(few, keysPerProject), seconds);
    const worker = await few.testbed.serve('worker');
    const process = { worker, projects: few };
    await untilProcessed(few);
    await processingCostOf(process, { each: 1, rounds: 1 });
    const eventAlone = await processingCostOf(process, { each: 1, rounds: rounds * sharedBy });
    const eventShared = await processingCostOf(process, { each: sharedBy, rounds });
    return { acceptKnownKey, acceptUnknownKey, eventAlone, eventShared, sharedBy, projectBytes };
  } finally {
    await few.testbed.close();
  }
}

async function bytesOf(count: number): Promise<number> {
  const projects = await openManyProjects(count);
  try {
    return await storedBytes(projects);
  } finally {
    await projects.testbed.close();
  }
}

/** States the figures before the run. Each project sends its next request after all others, so no key is remembered. */
export function predict(calibration: Calibration, { projects, each }: RunSizes['predicted']): Figures {
  return {
    accept: acceptCost(calibration, { keys: projects, order: 'in turn' }),
    process: processingCost(calibration, each),
    storedBytes: projects * calibration.projectBytes,
  };
}

export type Measured = Figures & {
  /** CPU seconds of all processes while nothing is sent, for a minute. */
  idleSeconds: number;
  processedPerSecond: number;
  acceptedPerSecond: number;
};

/** Measures the same figures with many projects. */
export async function measureMany({ predicted, seconds, idleSeconds }: RunSizes): Promise<Measured> {
  const projects = await openManyProjects(predicted.projects);
  try {
    const bytes = await storedBytes(projects);
    const { cost, perSecond } = await acceptCostAndRate(projects, projects.secrets, seconds);
    const worker = await projects.testbed.serve('worker');
    await untilProcessed(projects);
    const process = { worker, projects };
    // The first round creates the users.
    await processingCostOf(process, { each: 1, rounds: 1 });
    const startedAt = performance.now();
    const processed = await processingCostOf(process, { each: predicted.each, rounds: 1 });
    const processedPerSecond =
      (predicted.projects * predicted.each) / ((performance.now() - startedAt) / 1_000);
    const idle = await idleCpu(process, idleSeconds);
    return {
      accept: cost,
      process: processed,
      storedBytes: bytes,
      idleSeconds: idle,
      processedPerSecond,
      acceptedPerSecond: perSecond,
    };
  } finally {
    await projects.testbed.close();
  }
}

async function acceptCostOf(projects: ManyProjects, secrets: string[], seconds: number): Promise<CpuCost> {
  return (await acceptCostAndRate(projects, secrets, seconds)).cost;
}

/** No worker runs meanwhile, so PostgreSQL's time is that of accepting. */
async function acceptCostAndRate(
  { testbed }: ManyProjects,
  secrets: string[],
  seconds: number,
): Promise<{ cost: CpuCost; perSecond: number }> {
  const api = await testbed.serve('api');
  const plan = singleEvents(secrets, { kind: 'closed', connections: CONNECTIONS }, seconds);
  const target = { host: '127.0.0.1', port: api.port };
  try {
    await runLoad({ ...target, ...plan });
    const before = usagePair(api.pid, testbed.postgresPid);
    const load = await runLoad({ ...target, ...plan });
    const after = usagePair(api.pid, testbed.postgresPid);
    if (load.errors > 0) throw new Error(`${load.errors} requests failed: ${JSON.stringify(load.statuses)}`);
    const answers = Object.values(load.inAll.statuses).reduce((sum, count) => sum + count, 0);
    const cost = costBetween(before, after, answers);
    progress(`${secrets.length} keys: ${Math.round(load.perSecond)} requests a second`);
    return { cost, perSecond: load.perSecond };
  } finally {
    await api.stop();
  }
}

type Processing = { worker: Server; projects: ManyProjects };
let rounds = 0;

/** The worker is paused while its events are queued, so that it finds them all at once. */
async function processingCostOf(
  { worker, projects }: Processing,
  sizes: { each: number; rounds: number },
): Promise<CpuCost> {
  let total: CpuCost = { beckon: 0, postgres: 0 };
  const count = projects.count * sizes.each;
  const usage = (): UsagePair => usagePair(worker.pid, projects.testbed.postgresPid);
  for (let nth = 0; nth < sizes.rounds; nth += 1) {
    process.kill(worker.pid, 'SIGSTOP');
    await queueEvents(projects, { each: sizes.each, round: rounds });
    rounds += sizes.each;
    const before = usage();
    process.kill(worker.pid, 'SIGCONT');
    await untilProcessed(projects);
    total = addCosts(total, costBetween(before, usage(), count));
  }
  return scaleCost(total, 1 / sizes.rounds);
}

const POLL_MS = 20;
const POLL_OF_MANY_MS = 250;
const MANY = 10_000;

async function untilProcessed({ testbed: { db }, count }: ManyProjects): Promise<void> {
  const isWaiting = async (): Promise<boolean> =>
    (await db.query('SELECT 1 AS one FROM beckon.ingest_queue LIMIT 1')).length > 0;
  while (await isWaiting()) await pause(count > MANY ? POLL_OF_MANY_MS : POLL_MS);
}

async function idleCpu({ worker, projects }: Processing, seconds: number): Promise<number> {
  await pause(seconds * 1_000);
  const { postgresPid } = projects.testbed;
  const before = usagePair(worker.pid, postgresPid);
  await pause(seconds * 1_000);
  return (totalCost(costBetween(before, usagePair(worker.pid, postgresPid), seconds)) * 60) / 1e6;
}
