import { median } from '../measure.ts';
import { ratio, round } from '../print.ts';
import type { Baseline } from './baseline-process.ts';
import type { Sizes } from './sizes.ts';
import {
  untilAllDelivered,
  bodyOf,
  type Cpu,
  ENDPOINTS,
  onStage,
  PROJECTS,
  queue,
  type Stage,
  countUndelivered,
  watchCpu,
} from './stage.ts';

type Run = { deliveries: number; perSecond: number; twice: number; cpu: Cpu };

/** Queues all deliveries, then makes them due at once. Measures deliveries per second at the sink, between the first and the last. */
export function throughput({ throughput: { deliveries, warmUp, runs } }: Sizes): Promise<string[][]> {
  return onStage(50, async (stage) => {
    await measureProduct(stage, warmUp);
    const all: Run[] = [];
    for (let i = 0; i < runs; i += 1) all.push(await measureProduct(stage, deliveries));
    return [
      ...all.map((run) => ['the product', ...formatRun(run)]),
      ['median', round(median(all.map((run) => run.perSecond)))],
    ];
  });
}

/** Runs in turn with a baseline loop, against a sink that answers at once. The ratio is computed pair by pair. */
export function instant({ instant: { deliveries, warmUp, pairs } }: Sizes): Promise<string[][]> {
  return onStage(0, async (stage) => {
    const loop = await stage.testbed.script('verification/bench/webhooks/baseline-process.ts');
    await measureProduct(stage, warmUp);
    await measureLoop(stage, loop, warmUp);
    const rows: string[][] = [];
    const ratios: number[] = [];
    for (let i = 0; i < pairs; i += 1) {
      const product = await measureProduct(stage, deliveries);
      const baseline = await measureLoop(stage, loop, deliveries);
      ratios.push(product.perSecond / baseline.perSecond);
      rows.push(['the product', ...formatRun(product), ratio(product.perSecond / baseline.perSecond)]);
      rows.push(['a bare loop', ...formatRun(baseline)]);
    }
    return [...rows, ['median of the ratio', '', '', '', '', '', ratio(median(ratios))]];
  });
}

/** The baseline loop has as many connections as there are endpoints. */
const CONNECTIONS = PROJECTS * ENDPOINTS;
/** Longer than queueing takes. */
const QUEUED_WITHIN_MS = 5_000;
const QUEUED_AT_ONCE = 500;

/** Measures the product on this many deliveries and checks all of them. */
export async function measureProduct(stage: Stage, deliveries: number): Promise<Run> {
  const each = Math.ceil(deliveries / CONNECTIONS);
  const dueAt = Date.now() + QUEUED_WITHIN_MS;
  for (const projectId of stage.projectIds)
    for (let left = each; left > 0; left -= QUEUED_AT_ONCE)
      await queue(stage, { projectId, count: Math.min(left, QUEUED_AT_ONCE), dueAt });
  const run = await measured(stage, stage.worker.pid, () => untilAllDelivered(stage));
  const wrong = await countUndelivered(stage);
  if (run.deliveries !== each * CONNECTIONS || wrong > 0)
    throw new Error(
      `${run.deliveries} of ${each * CONNECTIONS} arrived; ${wrong} are not recorded as they should be`,
    );
  return run;
}

async function measureLoop(
  stage: Stage,
  loop: { port: number; pid: number },
  deliveries: number,
): Promise<Run> {
  const body = bodyOf('019bd6fd-3cac-784a-af87-e42aa8a5af35', Date.now());
  const baseline: Baseline = { port: stage.sink.port, deliveries, connections: CONNECTIONS, body };
  return measured(stage, loop.pid, async () => {
    const answer = await fetch(`http://127.0.0.1:${loop.port}/`, {
      method: 'POST',
      body: JSON.stringify(baseline),
    });
    if (!answer.ok) throw new Error(`the bare loop failed: ${await answer.text()}`);
  });
}

async function measured(stage: Stage, pid: number, work: () => Promise<void>): Promise<Run> {
  await stage.sink.forget();
  const cpu = watchCpu(stage, pid);
  await work();
  const used = cpu();
  const { deliveries, twice, ms } = await stage.sink.count();
  const each = (seconds: number): number => seconds / deliveries;
  return {
    deliveries,
    twice,
    perSecond: ((deliveries - 1) / ms) * 1_000,
    cpu: { dispatcher: each(used.dispatcher), postgres: each(used.postgres), sink: each(used.sink) },
  };
}

function formatRun({ perSecond, twice, cpu }: Run): string[] {
  const times = [cpu.dispatcher, cpu.postgres, cpu.sink].map((seconds) => `${round(seconds * 1e6)} µs`);
  return [round(perSecond), ...times, String(twice)];
}
