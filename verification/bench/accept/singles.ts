import { type LoadMode, type LoadPlan, type LoadResult, runLoad } from '../load/index.ts';
import { cpuBetween, fsyncFigures, median, usageOf, usageOfTree } from '../measure.ts';
import { micros, ms, ratio, round } from '../print.ts';
import { tmpdir } from 'node:os';
import type { Stage, Target } from './stage.ts';

export type Measurement = { load: LoadResult; cpuMicros: number; postgresMicros: number };

const CONNECTIONS = 64;

/** Runs once against one target. Returns the CPU time of the target and of PostgreSQL per answered request. */
async function measure(
  stage: Stage,
  target: Target,
  plan: Omit<LoadPlan, 'host' | 'port'>,
): Promise<Measurement> {
  const before = { target: usageOf(target.pid), postgres: usageOfTree(stage.postgresPid) };
  const load = await runLoad({ host: '127.0.0.1', port: target.port, ...plan });
  const after = { target: usageOf(target.pid), postgres: usageOfTree(stage.postgresPid) };
  // Warm-up is included on both sides of the division.
  const answers = Object.values(load.inAll.statuses).reduce((sum, count) => sum + count, 0);
  return {
    load,
    cpuMicros: (cpuBetween(before.target, after.target) / answers) * 1e6,
    postgresMicros: (cpuBetween(before.postgres, after.postgres) / answers) * 1e6,
  };
}

export function singleEvents(
  secrets: string[],
  mode: LoadMode,
  seconds: number,
): Omit<LoadPlan, 'host' | 'port'> {
  return {
    request: {
      method: 'POST',
      path: '/api/v1/events',
      headers: { 'User-Agent': 'beckon-bench/1.0.0' },
      projects: secrets,
      idempotencyKey: true,
      body: { kind: 'event' },
    },
    mode,
    seconds,
    warmupSeconds: 1,
  };
}

const CLOSED: LoadMode = { kind: 'closed', connections: CONNECTIONS };

/** Runs the baseline and the product in turn, so that both see the same machine conditions. Ratios are computed pair by pair. */
export async function singlesInPairs(
  stage: Stage,
  options: { pairs: number; seconds: number },
): Promise<string[][]> {
  const { secret } = await stage.project();
  const plan = singleEvents([secret], CLOSED, options.seconds);
  await measure(stage, stage.baseline, plan);
  await measure(stage, stage.real, plan);
  const pairs: { baseline: Measurement; real: Measurement }[] = [];
  for (let pair = 0; pair < options.pairs; pair += 1) {
    pairs.push({
      baseline: await measure(stage, stage.baseline, plan),
      real: await measure(stage, stage.real, plan),
    });
  }
  const rows = pairs.map(({ baseline, real }) => [
    round(baseline.load.perSecond),
    round(real.load.perSecond),
    ratio(real.load.perSecond / baseline.load.perSecond),
    micros(baseline.cpuMicros),
    micros(real.cpuMicros),
    ratio(real.cpuMicros / baseline.cpuMicros),
    micros(real.postgresMicros),
    String(real.load.errors),
  ]);
  const middle = (pick: (pair: { baseline: Measurement; real: Measurement }) => number): number =>
    median(pairs.map(pick));
  const summary = [
    round(middle(({ baseline }) => baseline.load.perSecond)),
    round(middle(({ real }) => real.load.perSecond)),
    ratio(middle(({ baseline, real }) => real.load.perSecond / baseline.load.perSecond)),
    micros(middle(({ baseline }) => baseline.cpuMicros)),
    micros(middle(({ real }) => real.cpuMicros)),
    ratio(middle(({ baseline, real }) => real.cpuMicros / baseline.cpuMicros)),
    micros(middle(({ real }) => real.postgresMicros)),
    '',
  ];
  return [...rows.map((row, i) => [`pair ${i + 1}`, ...row]), ['median', ...summary]];
}

/** Measures how long a caller waits at half of the maximum rate with arrivals at fixed times, and how long the disk alone takes. */
export async function latencyAtHalf(
  stage: Stage,
  options: { perSecond: number; seconds: number },
): Promise<string[]> {
  const { secret } = await stage.project();
  const mode: LoadMode = { kind: 'open', perSecond: options.perSecond, connections: CONNECTIONS };
  const { load } = await measure(stage, stage.real, singleEvents([secret], mode, options.seconds));
  const disk = fsyncFigures(tmpdir());
  const { p50, p99, max } = load.latencyMs;
  return [round(options.perSecond), ms(p50), ms(p99), ms(max), ms(disk.p99Ms), String(load.errors)];
}

/** Compares a thousand projects that write concurrently with one project. */
export async function manyProjects(
  stage: Stage,
  options: { projects: number; pairs: number; seconds: number },
): Promise<string[][]> {
  const all: string[] = [];
  for (let i = 0; i < options.projects; i += 1) all.push((await stage.project()).secret);
  const rows: string[][] = [];
  const ratios: number[] = [];
  await measure(stage, stage.real, singleEvents(all, CLOSED, options.seconds));
  for (let pair = 0; pair < options.pairs; pair += 1) {
    const single = await measure(stage, stage.real, singleEvents(all.slice(0, 1), CLOSED, options.seconds));
    const several = await measure(stage, stage.real, singleEvents(all, CLOSED, options.seconds));
    const cost = (each: Measurement): number => each.cpuMicros + each.postgresMicros;
    ratios.push(cost(several) / cost(single));
    const apiRatio = ratio(several.cpuMicros / single.cpuMicros);
    const each = [
      round(single.load.perSecond),
      round(several.load.perSecond),
      micros(cost(single)),
      micros(cost(several)),
    ];
    rows.push([`pair ${pair + 1}`, ...each, ratio(cost(several) / cost(single)), apiRatio]);
  }
  return [...rows, ['median', '', '', '', '', ratio(median(ratios)), '']];
}
