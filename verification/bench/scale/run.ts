import { runLoad } from '../load/index.ts';
import { progress } from '../fill.ts';
import { costBetween, type CpuCost, totalCost, type UsagePair, usagePair } from '../measure.ts';
import { pause } from '../processing/visible.ts';
import { singleEvents } from '../accept/singles.ts';
import type { Server } from '../testbed.ts';
import { deleteOldFindings } from '../../../packages/server/src/modules/imports/store.ts';
import {
  deleteMailBefore,
  deleteMailBeyond,
} from '../../../packages/server/src/modules/review/test-inbox/store.ts';
import { forgetDecisions } from '../../../packages/server/src/modules/rules/decisions/store.ts';
import { forgetHistory } from '../../../packages/server/src/modules/operations/retention/forget-history.ts';
import { addCosts, type Calibration, type Housekeeping, scaleCost } from './costs.ts';
import type { Figures } from './figures.ts';
import {
  addKeys,
  addUsers,
  emptyQueue,
  type ManyProjects,
  openManyProjects,
  queueEvents,
  storedBytes,
} from './many-projects.ts';

export type RunSizes = {
  /** Few enough projects for a worker to remember their definitions. */
  remembered: { projects: number; busy: number; seconds: number; sharedBy: number; rounds: number };
  /** More projects than that, each with as many keys as there are passes of first requests. The first pass warms up. */
  unread: { projects: number; passes: number; rounds: number };
  /** `active`: the projects with events to process. */
  predicted: { projects: number; warmUp: number; firstRequests: number; active: number; each: number };
  housekeeping: number;
  idleSeconds: number;
};

const CONNECTIONS = 64;

/** Measures the costs with few projects. */
export async function calibrate(sizes: RunSizes): Promise<Calibration> {
  const withFew = await calibrateRemembered(sizes);
  return { ...withFew, ...(await calibrateUnread(sizes)) };
}

type Remembered = Omit<Calibration, 'acceptFirst' | 'eventUnread'>;

async function calibrateRemembered(sizes: RunSizes): Promise<Remembered> {
  const { projects: count, busy, seconds, sharedBy, rounds } = sizes.remembered;
  const empty = await bytesOf(1);
  const few = await openManyProjects(count);
  try {
    const projectBytes = ((await storedBytes(few)) - empty) / (count - 1);
    const acceptBusy = await busyCost(few, { secrets: few.secrets.slice(0, busy), seconds });
    await emptyQueue(few);
    await addUsers(few, sharedBy);
    const worker = await few.testbed.serve('worker');
    const process = { worker, projects: few };
    await processingCostOf(process, { each: sharedBy, rounds: 1 });
    const eventAlone = await processingCostOf(process, { each: 1, rounds: rounds * sharedBy });
    const eventShared = await processingCostOf(process, { each: sharedBy, rounds });
    await worker.stop();
    const housekeeping = await housekeepingOf(few, sizes.housekeeping);
    return { acceptBusy, eventAlone, eventShared, sharedBy, housekeeping, projectBytes };
  } finally {
    await few.testbed.close();
  }
}

async function calibrateUnread({
  unread,
}: RunSizes): Promise<Pick<Calibration, 'acceptFirst' | 'eventUnread'>> {
  const some = await openManyProjects(unread.projects);
  try {
    const passes = [some.secrets];
    while (passes.length < unread.passes) passes.push(await addKeys(some, 1));
    const { cost: acceptFirst } = await firstRequestsCost(some, passes);
    await emptyQueue(some);
    await addUsers(some, 1);
    const worker = await some.testbed.serve('worker');
    const process = { worker, projects: some };
    await processingCostOf(process, { each: 1, rounds: 1 });
    return { acceptFirst, eventUnread: await processingCostOf(process, { each: 1, rounds: unread.rounds }) };
  } finally {
    await some.testbed.close();
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

export type Measured = Figures & {
  /** CPU seconds of all processes in a minute in which nothing is sent. */
  idleSeconds: number;
  processedPerSecond: number;
  acceptedPerSecond: number;
};

/** Measures the same figures with many projects. */
export async function measureMany({ predicted, housekeeping, idleSeconds }: RunSizes): Promise<Measured> {
  const { projects: count, warmUp, firstRequests, active, each } = predicted;
  const projects = await openManyProjects(count);
  const { secrets } = projects;
  try {
    const bytes = await storedBytes(projects);
    const passes = [secrets.slice(0, warmUp), secrets.slice(warmUp, warmUp + firstRequests)];
    const accept = await firstRequestsCost(projects, passes);
    await emptyQueue(projects);
    await addUsers(projects, each);
    const worker = await projects.testbed.serve('worker');
    await processingCostOf({ worker, projects: { ...projects, count: warmUp } }, { each, rounds: 1 });
    const startedAt = performance.now();
    const some = { ...projects, count: active };
    const process = await processingCostOf({ worker, projects: some }, { each, rounds: 1 });
    const processedPerSecond = (active * each) / ((performance.now() - startedAt) / 1_000);
    const idle = await idleCpu({ worker, projects }, idleSeconds);
    await worker.stop();
    return {
      accept: accept.cost,
      process,
      housekeeping: await housekeepingOf(projects, housekeeping),
      storedBytes: bytes,
      idleSeconds: idle,
      processedPerSecond,
      acceptedPerSecond: accept.perSecond,
    };
  } finally {
    await projects.testbed.close();
  }
}

/** The second of two equal loads is measured. No worker runs, so PostgreSQL's time is that of accepting. */
async function busyCost(
  { testbed }: ManyProjects,
  { secrets, seconds }: { secrets: string[]; seconds: number },
): Promise<CpuCost> {
  const api = await testbed.serve('api');
  try {
    await acceptLoad(api, { secrets, seconds });
    const before = usagePair(api.pid, testbed.postgresPid);
    const { answers } = await acceptLoad(api, { secrets, seconds });
    return costBetween(before, usagePair(api.pid, testbed.postgresPid), answers);
  } finally {
    await api.stop();
  }
}

/**
 * An API process remembers nothing of a project that sent its last request this long ago. It has returned the unused tokens and written
 * the use of the key.
 */
const FORGOTTEN_AFTER_MS = 12_000;
const FIRST_REQUESTS_WITHIN_S = 600;

/** Sends one request with each key. Only the passes after the first one are measured, with everything that the API process writes later. */
async function firstRequestsCost(
  { testbed }: ManyProjects,
  passes: string[][],
): Promise<{ cost: CpuCost; perSecond: number }> {
  const api = await testbed.serve('api');
  const usage = (): UsagePair => usagePair(api.pid, testbed.postgresPid);
  let before = usage();
  let [count, seconds] = [0, 0];
  try {
    for (const [nth, secrets] of passes.entries()) {
      const sizes = { secrets, seconds: FIRST_REQUESTS_WITHIN_S, requestsMax: secrets.length };
      const { answers, perSecond } = await acceptLoad(api, sizes);
      await pause(FORGOTTEN_AFTER_MS);
      if (nth === 0) before = usage();
      else [count, seconds] = [count + answers, seconds + answers / perSecond];
    }
    return { cost: costBetween(before, usage(), count), perSecond: count / seconds };
  } finally {
    await api.stop();
  }
}

type AcceptLoad = { secrets: string[]; seconds: number; requestsMax?: number };

async function acceptLoad(
  { port }: Server,
  { secrets, seconds, requestsMax }: AcceptLoad,
): Promise<{ answers: number; perSecond: number }> {
  const plan = singleEvents(secrets, { kind: 'closed', connections: CONNECTIONS }, seconds);
  const limit = requestsMax === undefined ? {} : { requestsMax, warmupSeconds: 0 };
  const load = await runLoad({ host: '127.0.0.1', port, ...plan, ...limit });
  if (load.errors > 0) throw new Error(`${load.errors} requests failed: ${JSON.stringify(load.statuses)}`);
  const answers = Object.values(load.inAll.statuses).reduce((sum, count) => sum + count, 0);
  progress(`${secrets.length} keys: ${Math.round(load.perSecond)} requests a second`);
  return { answers, perSecond: load.perSecond };
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
    rounds += 1;
    const before = usage();
    const startedAt = performance.now();
    process.kill(worker.pid, 'SIGCONT');
    await untilProcessed(projects);
    total = addCosts(total, costBetween(before, usage(), count));
    const perSecond = count / ((performance.now() - startedAt) / 1_000);
    if (nth === 0)
      progress(`${projects.count} projects, ${sizes.each} of each: ${Math.round(perSecond)} events a second`);
  }
  return scaleCost(total, 1 / sizes.rounds);
}

const POLL_MS = 20;
/** A poll passes over the rows that are processed already, which would cost a tenth of the processing. */
const POLL_OF_MANY_MS = 2_000;
const MANY = 10_000;

async function untilProcessed({ testbed: { db }, count }: ManyProjects): Promise<void> {
  const isWaiting = async (): Promise<boolean> =>
    (await db.query('SELECT 1 AS one FROM beckon.ingest_queue LIMIT 1')).length > 0;
  while (await isWaiting()) await pause(count > MANY ? POLL_OF_MANY_MS : POLL_MS);
}

/** Runs the jobs of a worker in this process, for some of the projects. */
async function housekeepingOf(
  { testbed, firstId, count }: ManyProjects,
  sample: number,
): Promise<Housekeeping> {
  const { db } = testbed;
  const limits = { before: new Date(db.clock.now() - DAY_MS), limit: 1_000 };
  const usage = (): UsagePair => usagePair(process.pid, testbed.postgresPid);
  const costOf = async (visit: (projectId: number) => Promise<unknown>): Promise<CpuCost> => {
    const each = async (from: number, to: number): Promise<void> => {
      for (let i = from; i < to; i += 1) await visit(firstId + (i % count));
    };
    // The first half warms up.
    await each(0, sample);
    const before = usage();
    await each(sample, 2 * sample);
    return costBetween(before, usage(), sample);
  };
  return {
    history: await costOf((projectId) => forgetHistory(db, projectId, () => true)),
    hourly: await costOf(async (projectId) => {
      await db.transaction((tx) => forgetDecisions(tx, { projectId, ...limits, from: null }));
      await deleteMailBefore(db, { projectId, before: limits.before.getTime(), limit: limits.limit });
      await deleteMailBeyond(db, { projectId, keep: limits.limit, limit: limits.limit });
      for (let nth = 0; nth < FINDINGS_PER_HOUR; nth += 1)
        await deleteOldFindings(db, { projectId, ...limits });
    }),
  };
}

const DAY_MS = 86_400_000;
const FINDINGS_PER_HOUR = 6;

async function idleCpu({ worker, projects }: Processing, seconds: number): Promise<number> {
  await pause(seconds * 1_000);
  const { postgresPid } = projects.testbed;
  const before = usagePair(worker.pid, postgresPid);
  await pause(seconds * 1_000);
  return (totalCost(costBetween(before, usagePair(worker.pid, postgresPid), seconds)) * 60) / 1e6;
}
