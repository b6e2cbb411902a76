import { type Connection, type ConnectionEvents, createConnections, type Loss } from './connection.ts';
import { createHistogram, percentiles, record } from './histogram.ts';
import type { LoadPlan, LoadResult } from './plan.ts';
import { createRequests, type Slot } from './request.ts';

/**
 * Conducts one run: connect, warm up, measure, drain.
 *
 * Both loops are one loop. They differ in when the next request is due. In the closed loop that is as soon as a connection is free, in the
 * open loop at fixed times. The latency of the open loop counts from the time that the request was due, whether or not a connection was
 * free. So a stalled server is charged with every request that was due in that time, which is what its users would feel.
 */
export async function drive(plan: LoadPlan, stopped: () => boolean): Promise<LoadResult> {
  const run = begin(plan);
  const total = plan.mode.connections;
  const events: ConnectionEvents = {
    onReady: (connection) => ready(run, connection),
    onAnswer: (connection, status) => answered(run, connection, status),
    onLoss: (connection, why) => lost(run, connection, why),
  };
  const open = createConnections({ host: plan.host, port: plan.port }, events);
  for (let i = 0; i < total; i += 1) {
    const connection = open();
    run.slots.set(connection, run.requests.slot());
    // A listen backlog is short. Connections that overflow it are retried only after a second.
    if (i % CONNECT_AT_ONCE === CONNECT_AT_ONCE - 1) await pause(10);
  }
  await until(() => run.idle.length >= total || stopped(), CONNECT_WITHIN_MS);
  if (run.idle.length === 0 && !stopped()) throw new Error(`no server answers at ${plan.host}:${plan.port}`);
  start(run);
  await conduct(run, stopped);
  const result = report(run);
  for (const connection of run.slots.keys()) connection.close();
  return result;
}

const CONNECT_AT_ONCE = 64;
const CONNECT_WITHIN_MS = 10_000;
const TICK_MS = 1;
const ANSWER_WITHIN_MS = 30_000;
const DRAIN_WITHIN_MS = 30_000;
const POLL_MS = 100;
const NEVER = Number.POSITIVE_INFINITY;
const STATUS_MAX = 600;

type Run = {
  plan: LoadPlan;
  requests: ReturnType<typeof createRequests>;
  slots: Map<Connection, Slot>;
  idle: Connection[];
  /** When the next request is due. `NEVER` once the time is over. */
  dueAt: number;
  nextDue: (dueAt: number) => number;
  startedAt: number;
  measureFrom: number;
  measureTo: number;
  /** Responses that arrived within the measured time, whenever their requests were due. */
  inTime: number;
  latency: ReturnType<typeof createHistogram>;
  lateness: ReturnType<typeof createHistogram>;
  statuses: Float64Array;
  allStatuses: Float64Array;
  lost: Record<Loss, number>;
  inFlight: number;
  cpu: { from: NodeJS.CpuUsage | null; seconds: number };
};

function begin(plan: LoadPlan): Run {
  const seed = plan.seed ?? Math.floor(Math.random() * 2 ** 32);
  return {
    plan,
    requests: createRequests(plan.request, { host: `${plan.host}:${plan.port}`, seed }),
    slots: new Map(),
    idle: [],
    dueAt: NEVER,
    nextDue: arrivals(plan, seed),
    startedAt: 0,
    measureFrom: NEVER,
    measureTo: NEVER,
    inTime: 0,
    latency: createHistogram(),
    lateness: createHistogram(),
    statuses: new Float64Array(STATUS_MAX),
    allStatuses: new Float64Array(STATUS_MAX),
    lost: { refused: 0, reset: 0, timeout: 0, unreadable: 0 },
    inFlight: 0,
    cpu: { from: null, seconds: 0 },
  };
}

/** Returns the next due time from the previous one, in ms. It depends on plan and seed alone, whatever the server does. */
function arrivals({ mode }: LoadPlan, seed: number): (dueAt: number) => number {
  // Always due, from the start: only a free connection is needed.
  if (mode.kind === 'closed') return (dueAt) => dueAt;
  const stepMs = 1_000 / mode.perSecond;
  if (mode.arrivals !== 'poisson') return (dueAt) => dueAt + stepMs;
  let state = seed >>> 0 || 1;
  return (dueAt) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return dueAt - Math.log(((state >>> 0) + 1) / (2 ** 32 + 1)) * stepMs;
  };
}

function start(run: Run): void {
  run.startedAt = performance.now();
  run.measureFrom = run.startedAt + (run.plan.warmupSeconds ?? 0) * 1_000;
  run.measureTo = run.measureFrom + run.plan.seconds * 1_000;
  run.dueAt = run.startedAt;
}

/** Polls at short intervals, outside the request loop, for the phases, for requests that take too long, and for the CPU time between. */
async function conduct(run: Run, stopped: () => boolean): Promise<void> {
  const ticking = run.plan.mode.kind === 'open' ? tick(run) : null;
  pump(run, performance.now());
  for (let stopping = false; !stopping;) {
    const now = performance.now();
    if (run.cpu.from === null && now >= run.measureFrom) run.cpu.from = process.cpuUsage();
    giveUp(run, now);
    if (stopped() || hasSentAll(run)) run.measureTo = Math.min(run.measureTo, now);
    stopping = now >= run.measureTo;
    const next = run.cpu.from === null ? run.measureFrom : run.measureTo;
    if (!stopping) await pause(Math.max(1, Math.min(POLL_MS, next - now)));
  }
  if (run.plan.mode.kind === 'closed') run.dueAt = NEVER;
  const used = process.cpuUsage(run.cpu.from ?? process.cpuUsage());
  run.cpu.seconds = (used.user + used.system) / 1e6;
  // Waits for requests that are under way, or due and still waiting: leaving them out would leave out the slowest.
  await until(() => {
    giveUp(run, performance.now());
    return run.inFlight === 0 && run.dueAt >= run.measureTo;
  }, DRAIN_WITHIN_MS);
  ticking?.();
}

function tick(run: Run): () => void {
  let on = true;
  const again = (): void => {
    if (!on) return;
    pump(run, performance.now());
    setTimeout(again, TICK_MS);
  };
  again();
  return () => {
    on = false;
  };
}

/** Sends the due requests as long as connections are free. */
function pump(run: Run, now: number): void {
  while (run.idle.length > 0 && run.dueAt <= now && run.dueAt < run.measureTo && !hasSentAll(run)) {
    const connection = run.idle.pop();
    if (connection) send(run, connection, now);
  }
}

function hasSentAll({ plan, requests }: Run): boolean {
  return requests.sequence.request >= (plan.requestsMax ?? NEVER);
}

function send(run: Run, connection: Connection, now: number): void {
  const slot = run.slots.get(connection);
  if (!slot) return;
  const open = run.plan.mode.kind === 'open';
  connection.intendedAt = open ? run.dueAt : now;
  connection.sentAt = now;
  if (open) {
    if (run.dueAt >= run.measureFrom) record(run.lateness, now - run.dueAt);
    run.dueAt = run.nextDue(run.dueAt);
  }
  run.inFlight += 1;
  connection.send(slot.next());
}

function ready(run: Run, connection: Connection): void {
  run.idle.push(connection);
  if (run.startedAt > 0) pump(run, performance.now());
}

function answered(run: Run, connection: Connection, status: number): void {
  const now = performance.now();
  run.inFlight -= 1;
  run.allStatuses[status] = (run.allStatuses[status] ?? 0) + 1;
  if (connection.intendedAt >= run.measureFrom && connection.intendedAt < run.measureTo) {
    run.statuses[status] = (run.statuses[status] ?? 0) + 1;
    record(run.latency, now - connection.intendedAt);
  }
  if (now >= run.measureFrom && now < run.measureTo) run.inTime += 1;
}

function lost(run: Run, connection: Connection, why: Loss | null): void {
  if (connection.sentAt > 0) run.inFlight -= 1;
  const idleAt = run.idle.indexOf(connection);
  if (idleAt !== -1) run.idle.splice(idleAt, 1);
  if (why !== null && run.startedAt > 0) run.lost[why] += 1;
}

function giveUp(run: Run, now: number): void {
  for (const connection of run.slots.keys())
    if (connection.sentAt > 0 && now - connection.sentAt > ANSWER_WITHIN_MS) connection.abandon();
}

function report(run: Run): LoadResult {
  const statuses = byStatus(run.statuses);
  const seconds = Math.max(0, run.measureTo - run.measureFrom) / 1_000;
  const refusedByStatus = Object.entries(statuses)
    .filter(([status]) => Number(status) >= 400)
    .reduce((sum, [, count]) => sum + count, 0);
  const lostInAll = Object.values(run.lost).reduce((sum, count) => sum + count, 0);
  const { request: sent } = run.requests.sequence;
  return {
    requests: run.latency.count,
    seconds,
    perSecond: seconds > 0 ? run.inTime / seconds : 0,
    statuses,
    errors: refusedByStatus + lostInAll,
    lost: run.lost,
    latencyMs: percentiles(run.latency),
    latenessMs: run.plan.mode.kind === 'open' ? percentiles(run.lateness) : null,
    unsent: unsent(run),
    cpuSeconds: run.cpu.seconds,
    inAll: { sent, records: sent * run.requests.recordsPerRequest, statuses: byStatus(run.allStatuses) },
  };
}

function unsent(run: Run): number {
  if (run.plan.mode.kind === 'closed') return 0;
  let count = 0;
  for (let dueAt = run.dueAt; dueAt < run.measureTo; dueAt = run.nextDue(dueAt)) count += 1;
  return count;
}

function byStatus(counts: Float64Array): Record<string, number> {
  const named: Record<string, number> = {};
  for (const [status, count] of counts.entries()) if (count > 0) named[status] = count;
  return named;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function until(holds: () => boolean, withinMs: number): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!holds() && performance.now() < giveUpAt) await pause(5);
}
