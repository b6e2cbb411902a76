import { ms, ratio, round } from '../print.ts';
import { type Testbed, openTestbed } from '../testbed.ts';
import { settle } from '../world.ts';
import { pause } from '../processing/visible.ts';
import { type BaselineRates, copyBefore, openBaseline, writeBaseline } from './baseline.ts';
import { type Claims, claimsOf } from './claims.ts';
import { type Cpu, openSender, type SenderProcess, watchCpu } from './senders.ts';
import type { Sizes } from './sizes.ts';
import { progress } from '../fill.ts';
import { allSent, openWorld, writeDrafts, ring, type World } from './world.ts';

/**
 * Measures how fast one worker claims due drafts and runs the send checks. First the drafts fall due steadily, then as a backlog whose
 * deadlines passed while no sender ran. An email counts when its result is written, so the rate covers the sender's whole path: claim,
 * commit, submission to the relay, result, commit. The baseline is the bare SQL of the same run (`baseline.ts`).
 */
export async function measureDue({
  due: sizes,
}: Sizes): Promise<{ steady: string[][]; backlog: string[][] }> {
  const testbed = await openTestbed();
  try {
    const { drafts, overMs, warmUp } = sizes;
    progress('people and rules');
    const world = await openWorld(testbed, { people: warmUp + 2 * drafts });
    const stage = { testbed, world, senders: [await openSender(testbed)] };
    progress(`${warmUp} drafts to warm up`);
    await sendBacklog(stage, { count: warmUp, overMs });
    progress(`${drafts} drafts that fall due over ${overMs / 1_000} s`);
    const steady = await sendSteadily(stage, { count: drafts, overMs });
    progress(`${drafts} drafts, all of them due`);
    const backlog = await sendBacklog(stage, { count: drafts, overMs, before: () => copyBefore(world) });
    progress('the bare SQL');
    const baseline = await openBaseline(world, backlog.since);
    await settle(testbed.url);
    const rates = await writeBaseline(testbed.url, baseline);
    return { steady: [steadyRow(steady)], backlog: [backlogRow(backlog, rates)] };
  } finally {
    await testbed.close();
  }
}

export type Stage = { testbed: Testbed; world: World; senders: SenderProcess[] };
export type SendRun = Claims & { since: number; cpu: Cpu; submitted: number };
type Load = { count: number; overMs: number };

/** Measures deadlines that passed over some time before now, while no sender ran. */
export async function sendBacklog(
  { testbed, world, senders }: Stage,
  { count, overMs, before }: Load & { before?: () => Promise<void> },
): Promise<SendRun> {
  await writeDrafts(world, { count, firstAt: Date.now() - overMs - 1_000, overMs });
  await settle(testbed.url);
  await before?.();
  return untilSent({ testbed, world, senders }, Date.now());
}

const PREPARE_MS = 2_000;
const PREPARE_MS_EACH = 0.6;

/** Measures evenly spaced deadlines that begin some seconds ahead. */
export async function sendSteadily(stage: Stage, { count, overMs }: Load): Promise<SendRun> {
  const firstAt = Date.now() + PREPARE_MS + count * PREPARE_MS_EACH;
  await writeDrafts(stage.world, { count, firstAt, overMs });
  await settle(stage.testbed.url);
  if (Date.now() > firstAt)
    throw new Error('the deadlines came before the drafts were all written: prepare for longer');
  await pause(firstAt - Date.now());
  return untilSent(stage, firstAt + overMs);
}

/** Starts the senders and waits until all drafts due by `until` are sent. */
async function untilSent({ testbed, world, senders }: Stage, until: number): Promise<SendRun> {
  const { db } = testbed;
  const submittedBefore = await submittedBy(senders);
  await Promise.all(senders.map((sender) => sender.begin()));
  const cpu = watchCpu(testbed, senders);
  const since = Date.now();
  await ring(db, world.projectId, since);
  await pause(until - Date.now());
  await allSent(db, world.projectId, Math.max(since, until) + 1);
  const used = cpu();
  await Promise.all(senders.map((sender) => sender.rest()));
  const submitted = (await submittedBy(senders)) - submittedBefore;
  return { ...(await claimsOf(world, since)), since, cpu: used, submitted };
}

async function submittedBy(senders: SenderProcess[]): Promise<number> {
  const counts = await Promise.all(senders.map((sender) => sender.submitted()));
  return counts.reduce((a, b) => a + b, 0);
}

/** Counts claims of a draft beyond the first, and emails submitted beyond those. */
export function doubles({ twice, submitted, drafts }: SendRun): string {
  return String(twice + Math.max(0, submitted - drafts));
}

const micros = (seconds: number, drafts: number): string => `${round((seconds / drafts) * 1e6)} µs`;

function steadyRow(run: SendRun): string[] {
  const { drafts, seconds, batches, late, submittedP99, cpu, left, outOfOrder } = run;
  return [
    round(drafts),
    `${round(drafts / seconds)}`,
    ms(late.p50),
    ms(late.p99),
    ms(late.max),
    ms(submittedP99),
    (drafts / batches).toFixed(1),
    micros(cpu.sender, drafts),
    micros(cpu.postgres, drafts),
    String(left),
    String(outOfOrder),
    doubles(run),
  ];
}

function backlogRow(run: SendRun, baseline: BaselineRates): string[] {
  const { drafts, seconds, batches, cpu, left, outOfOrder } = run;
  const perSecond = drafts / seconds;
  return [
    round(drafts),
    round(perSecond),
    round(baseline.claims),
    ratio(perSecond / baseline.claims),
    round(baseline.withResults),
    ratio(perSecond / baseline.withResults),
    (drafts / batches).toFixed(1),
    micros(cpu.sender, drafts),
    micros(cpu.postgres, drafts),
    String(left),
    String(outOfOrder),
    doubles(run),
  ];
}
