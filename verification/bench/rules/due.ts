import { ms, ratio, round } from '../print.ts';
import { type Ground, openGround } from '../stage.ts';
import { settle } from '../world.ts';
import { pause } from '../digest/visible.ts';
import { type BareRates, copyBefore, openBare, writeBare } from './bare.ts';
import { type Claims, claimsOf } from './claims.ts';
import { type Cpu, openSender, type SenderProcess, watchCpu } from './senders.ts';
import type { Sizes } from './sizes.ts';
import { progress } from '../fill.ts';
import { allSent, openWorld, putDrafts, ring, type World } from './world.ts';

/**
 * Measures how fast one worker claims due drafts and runs the send checks. First the drafts fall due steadily, then as a backlog whose
 * deadlines passed while no sender ran. An email counts when its result is written, so the rate covers the sender's whole path: claim,
 * commit, submission to the relay, result, commit. The baseline is the bare SQL of the same run (`bare.ts`).
 */
export async function due({ due: sizes }: Sizes): Promise<{ steady: string[][]; backlog: string[][] }> {
  const ground = await openGround();
  try {
    const { drafts, overMs, warmUp } = sizes;
    progress('people and rules');
    const world = await openWorld(ground, { people: warmUp + 2 * drafts });
    const stage = { ground, world, senders: [await openSender(ground)] };
    progress(`${warmUp} drafts to warm up`);
    await sendBacklog(stage, { count: warmUp, overMs });
    progress(`${drafts} drafts that fall due over ${overMs / 1_000} s`);
    const steady = await sendSteadily(stage, { count: drafts, overMs });
    progress(`${drafts} drafts, all of them due`);
    const backlog = await sendBacklog(stage, { count: drafts, overMs, before: () => copyBefore(world) });
    progress('the bare SQL');
    const bare = await openBare(world, backlog.since);
    await settle(ground.url);
    const rates = await writeBare(ground.url, bare);
    return { steady: [steadyRow(steady)], backlog: [backlogRow(backlog, rates)] };
  } finally {
    await ground.close();
  }
}

export type Stage = { ground: Ground; world: World; senders: SenderProcess[] };
export type Sent = Claims & { since: number; cpu: Cpu; handed: number };
type Load = { count: number; overMs: number };

/** Measures deadlines that passed over some time before now, while no sender ran. */
export async function sendBacklog(
  { ground, world, senders }: Stage,
  { count, overMs, before }: Load & { before?: () => Promise<void> },
): Promise<Sent> {
  await putDrafts(world, { count, firstAt: Date.now() - overMs - 1_000, overMs });
  await settle(ground.url);
  await before?.();
  return sent({ ground, world, senders }, Date.now());
}

const PREPARE_MS = 2_000;
const PREPARE_MS_EACH = 0.6;

/** Measures evenly spaced deadlines that begin some seconds ahead. */
export async function sendSteadily(stage: Stage, { count, overMs }: Load): Promise<Sent> {
  const firstAt = Date.now() + PREPARE_MS + count * PREPARE_MS_EACH;
  await putDrafts(stage.world, { count, firstAt, overMs });
  await settle(stage.ground.url);
  if (Date.now() > firstAt)
    throw new Error('the deadlines came before the drafts were all written: prepare for longer');
  await pause(firstAt - Date.now());
  return sent(stage, firstAt + overMs);
}

/** Starts the senders and waits until all drafts due by `until` are sent. */
async function sent({ ground, world, senders }: Stage, until: number): Promise<Sent> {
  const { db } = ground;
  const handedBefore = await handedBy(senders);
  await Promise.all(senders.map((sender) => sender.begin()));
  const cpu = watchCpu(ground, senders);
  const since = Date.now();
  await ring(db, world.projectId, since);
  await pause(until - Date.now());
  await allSent(db, world.projectId, Math.max(since, until) + 1);
  const used = cpu();
  await Promise.all(senders.map((sender) => sender.rest()));
  const handed = (await handedBy(senders)) - handedBefore;
  return { ...(await claimsOf(world, since)), since, cpu: used, handed };
}

async function handedBy(senders: SenderProcess[]): Promise<number> {
  const counts = await Promise.all(senders.map((sender) => sender.handed()));
  return counts.reduce((a, b) => a + b, 0);
}

/** Counts claims of a draft beyond the first, and emails submitted beyond those. */
export function doubles({ twice, handed, drafts }: Sent): string {
  return String(twice + Math.max(0, handed - drafts));
}

const micros = (seconds: number, drafts: number): string => `${round((seconds / drafts) * 1e6)} µs`;

function steadyRow(sent: Sent): string[] {
  const { drafts, seconds, batches, late, handedP99, cpu, left, outOfOrder } = sent;
  return [
    round(drafts),
    `${round(drafts / seconds)}`,
    ms(late.p50),
    ms(late.p99),
    ms(late.max),
    ms(handedP99),
    (drafts / batches).toFixed(1),
    micros(cpu.sender, drafts),
    micros(cpu.postgres, drafts),
    String(left),
    String(outOfOrder),
    doubles(sent),
  ];
}

function backlogRow(sent: Sent, bare: BareRates): string[] {
  const { drafts, seconds, batches, cpu, left, outOfOrder } = sent;
  const perSecond = drafts / seconds;
  return [
    round(drafts),
    round(perSecond),
    round(bare.claims),
    ratio(perSecond / bare.claims),
    round(bare.withResults),
    ratio(perSecond / bare.withResults),
    (drafts / batches).toFixed(1),
    micros(cpu.sender, drafts),
    micros(cpu.postgres, drafts),
    String(left),
    String(outOfOrder),
    doubles(sent),
  ];
}
