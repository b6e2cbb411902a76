import { silentLog } from '../../../packages/server/src/platform/log.ts';
import { openRelay } from '../../../packages/server/src/platform/mail/relay.ts';
import { classifyReply } from '../../../packages/server/src/modules/outcomes/bounces/classify-reply.ts';
import { median } from '../measure.ts';
import { ratio, round } from '../print.ts';
import { progress, withClient } from '../fill.ts';
import { allSent, writeDrafts, ring } from '../rules/world.ts';
import type { Server } from '../testbed.ts';
import { settle } from '../world.ts';
import { type Baseline, BASELINE_LOOPS, type BaselineLoop } from './baseline.ts';
import type { Sizes } from './sizes.ts';
import { type Cpu, onStage, type Stage, watchCpu } from './stage.ts';

/**
 * Measures emails per second at the sink, between the first and the last. First the product sends drafts of one project that are all due:
 * they are claimed, frozen, submitted and recorded. Then each baseline loop sends (`baseline.ts`). They run in turn, and the ratio is computed
 * pair by pair. Everything runs on the same machine: if its cores are all busy, the cheaper side is faster.
 */
export function throughput({ throughput: sizes }: Sizes): Promise<string[][]> {
  const { emails, warmUp, pairs } = sizes;
  return onStage(warmUp + pairs * emails, async (stage) => {
    const loops = await stage.testbed.script('verification/bench/send/baseline-process.ts');
    progress(`${warmUp} emails of each to warm up`);
    await ofProduct(stage, warmUp);
    for (const loop of BASELINE_LOOPS) await ofLoop(stage, loops, { loop, emails: warmUp });
    const all: Pair[] = [];
    for (let pair = 1; pair <= pairs; pair += 1) {
      progress(`throughput, pair ${pair} of ${pairs}: the product`);
      const product = await ofProduct(stage, emails);
      const baseline: Partial<Record<BaselineLoop, Run>> = {};
      for (const loop of BASELINE_LOOPS) {
        progress(`throughput, pair ${pair} of ${pairs}: ${loop}`);
        baseline[loop] = await ofLoop(stage, loops, { loop, emails });
      }
      all.push({ product, baseline });
    }
    return [...all.flatMap(rowsOf), ...medians(all)];
  });
}

/** The number that the product uses by default. */
export const connections = openRelay({
  url: 'smtp://127.0.0.1',
  log: silentLog,
  classify: classifyReply,
}).slots;

type Run = {
  emails: number;
  perSecond: number;
  bytes: number;
  cpu: Cpu;
  twice: number;
  /** Only for runs of the product. */
  records: Records | null;
};
/** `notSent`: drafts in any state but `sent`. The others are the average number of emails per transaction of each kind. */
type Records = { notSent: number; claimed: number; submitted: number; recorded: number };
type Pair = { product: Run; baseline: Partial<Record<BaselineLoop, Run>> };

async function ofProduct(stage: Stage, emails: number): Promise<Run> {
  const { testbed, world, worker } = stage;
  await writeDrafts(world, { count: emails, firstAt: Date.now() - 10_000, overMs: 9_000 });
  await settle(testbed.url);
  const since = Date.now();
  const run = await measured(stage, worker.pid, async () => {
    await ring(testbed.db, world.projectId, since);
    await allSent(testbed.db, world.projectId, Date.now());
  });
  const records = await recordsOf(stage, since);
  checkAll(run, emails, records);
  return { ...run, records };
}

function checkAll({ emails: arrived, twice }: Run, emails: number, { notSent }: Records): void {
  if (arrived === emails && twice === 0 && notSent === 0) return;
  throw new Error(
    `${arrived} of ${emails} emails arrived, ${twice} more than once; ${notSent} drafts are not sent`,
  );
}

async function ofLoop(
  stage: Stage,
  loops: Server,
  { loop, emails }: Pick<Baseline, 'loop' | 'emails'>,
): Promise<Run> {
  const { baseline: email, dkim } = stage.world;
  const baseline: Baseline = { loop, emails, smtpPort: stage.sink.smtpPort, connections, email, dkim };
  return measured(stage, loops.pid, async () => {
    const answer = await fetch(`http://127.0.0.1:${loops.port}/`, {
      method: 'POST',
      body: JSON.stringify(baseline),
    });
    if (!answer.ok) throw new Error(`the loop ${loop} failed: ${await answer.text()}`);
  });
}

async function measured(stage: Stage, pid: number, work: () => Promise<void>): Promise<Run> {
  await stage.sink.forget();
  const cpu = watchCpu(stage, pid);
  await work();
  const used = cpu();
  const { emails, twice, bytes, ms } = await stage.sink.count();
  const copies = emails + twice;
  return {
    emails,
    perSecond: ((copies - 1) / ms) * 1_000,
    bytes: bytes / copies,
    cpu: { sender: used.sender / copies, postgres: used.postgres / copies, sink: used.sink / copies },
    twice,
    records: null,
  };
}

/** Covers the emails claimed since then. `notSent` covers all drafts that this project ever had. */
export function recordsOf({ world }: Pick<Stage, 'world'>, since: number): Promise<Records> {
  return withClient(world.url, async (client) => {
    const { rows } = await client.query<Records>(RECORDS, [world.projectId, new Date(since)]);
    const [records] = rows;
    if (!records) throw new Error('no records');
    return records;
  });
}

/** All rows of one transaction have the same time. */
const RECORDS = `
  SELECT count(*) FILTER (WHERE d.state <> 'sent' OR m.state IS DISTINCT FROM 'sent')::int AS "notSent",
    ${together('claimed_at')} AS claimed, ${together('first_at')} AS submitted, ${together('ended_at')} AS recorded
  FROM beckon.draft d LEFT JOIN beckon.email m ON m.project_id = d.project_id AND m.draft_id = d.id WHERE d.project_id = $1`;

function together(moment: string): string {
  const since = 'FILTER (WHERE m.claimed_at >= $2)';
  return `count(*) ${since}::float8 / nullif(count(DISTINCT m.${moment}) ${since}, 0)`;
}

export function shownTogether({ claimed, submitted, recorded }: Records): string {
  return [claimed, submitted, recorded].map((count) => count.toFixed(1)).join(' / ');
}

const NAMES: Record<BaselineLoop, string> = {
  ours: 'composed, signed and submitted by our code',
  library: 'by nodemailer alone',
  raw: 'raw emails, composed before',
};

function rowsOf({ product, baseline }: Pair): string[][] {
  const { records, twice } = product;
  const checks = [String(twice), String(records?.notSent)];
  const ofProduct = [records ? shownTogether(records) : '', ...checks, ''];
  const loops = BASELINE_LOOPS.flatMap((loop) => {
    const run = baseline[loop];
    // The raw loop repeats the same few hundred emails.
    const copies = loop === 'raw' ? '' : String(run?.twice);
    return run
      ? [[NAMES[loop], ...formatRun(run), '', copies, '', ratio(product.perSecond / run.perSecond)]]
      : [];
  });
  return [['the product', ...formatRun(product), ...ofProduct], ...loops];
}

function formatRun({ perSecond, bytes, cpu }: Run): string[] {
  return [
    round(perSecond),
    round(bytes),
    ...[cpu.sender, cpu.postgres, cpu.sink].map((seconds) => `${round(seconds * 1e6)} µs`),
  ];
}

function medians(all: Pair[]): string[][] {
  const line = (name: string, rates: number[], ratios: number[]): string[] => {
    const pairs = ratios.length > 0 ? ratio(median(ratios)) : '';
    return [`${name}: median`, round(median(rates)), '', '', '', '', '', '', '', pairs];
  };
  const product = all.map((pair) => pair.product.perSecond);
  const loops = BASELINE_LOOPS.map((loop) => {
    const rates = all.flatMap(({ baseline }) => baseline[loop]?.perSecond ?? []);
    return line(
      NAMES[loop],
      rates,
      product.map((rate, i) => rate / (rates[i] ?? Number.NaN)),
    );
  });
  return [line('the product', product, []), ...loops];
}
