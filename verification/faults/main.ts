import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openJournal, readJournals, type World } from './journal.ts';
import { act } from './load/acts.ts';
import { chosen, makeTrouble } from './plan.ts';
import {
  commitOf,
  describeReport,
  faultsOf,
  loadOf,
  refusedOf,
  type Report,
  summaryOf,
  writeReport,
} from './report.ts';
import { type Cluster, openCluster } from './stage/cluster.ts';
import { type OpenStage, openStage } from './stage/open-stage.ts';
import { settle, type Waiting } from './stage/settle.ts';

/**
 * Runs the product under faults: `node verification/faults/main.ts --minutes 30 --seed 7 [--only F2,F3] [--dir DIR] [--rate N] [--every SECONDS]`.
 * `--short` runs the short version, and `--judge DIR` checks an earlier run again from its directory. Exits with 0 if no promise was
 * violated, 1 if one was, 2 if the run itself broke.
 */
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    only: { type: 'string' },
    dir: { type: 'string' },
    rate: { type: 'string', default: '40' },
    every: { type: 'string', default: '3' },
    short: { type: 'boolean', default: false },
    judge: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

const SHORT_MINUTES = 1;
const SHORT_RATE = 25;
const QUIET_WITHIN_MS = 5 * 60_000;
const SEEDS = 1e9;
const CODES = { held: 0, violated: 1, broken: 2 };

type Run = { dir: string; seed: number; minutes: number; perSecond: number; every: number };

function readRun(): Run {
  const seed = options.seed === undefined ? Math.floor(Math.random() * SEEDS) : Number(options.seed);
  const minutes = options.short ? SHORT_MINUTES : Number(options.minutes);
  const perSecond = options.short ? SHORT_RATE : Number(options.rate);
  const every = Number(options.every);
  for (const [name, value] of Object.entries({ seed, minutes, rate: perSecond, every }))
    if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} is to be a number`);
  const dir = resolve(options.dir ?? mkdtempSync(join(tmpdir(), 'beckon-faults-')));
  mkdirSync(dir, { recursive: true });
  // The account that PostgreSQL runs as needs access to the contents.
  chmodSync(dir, 0o755);
  return { dir, seed, minutes, perSecond, every };
}

async function run(wanted: Run): Promise<number> {
  const { dir, seed, minutes, every } = wanted;
  const faults = chosen(options.only?.split(',') ?? null);
  say(`seed ${seed}, ${minutes} minutes, in ${dir}`);
  const code = await withCluster(dir, async (cluster) => {
    const postgres = await cluster.settings();
    const stage = await openStage(cluster, wanted);
    let waiting: Waiting;
    try {
      await underFaults(stage, { minutes, work: () => makeTrouble(stage, faults, { seed, every }) });
      say('the faults are over: everything is mended and comes to rest');
      waiting = await settle(stage, QUIET_WITHIN_MS);
    } finally {
      await stage.close();
    }
    const report = await reportOf(wanted, { waiting, postgres });
    writeReport(dir, report);
    return conclude(report, dir);
  });
  if (code === CODES.held && options.dir === undefined && !options.keep)
    rmSync(dir, { recursive: true, force: true });
  return code;
}

/** PostgreSQL ends with the run, whatever its result. Other child processes end with this process. */
async function withCluster(dir: string, work: (cluster: Cluster) => Promise<number>): Promise<number> {
  const cluster = await openCluster(dir);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cluster.stop().finally(() => process.exit(CODES.broken)));
  try {
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
}

type UnderFaults = { minutes: number; work: () => Promise<void> };

async function underFaults(stage: OpenStage, { minutes, work }: UnderFaults): Promise<void> {
  const acts = openJournal(stage.dir, 'acts');
  const acting = act(stage, acts);
  const troubling = work();
  // The run ends when its time is over, or earlier if any of them breaks.
  await Promise.race([pause(minutes * 60_000), broken(acting), broken(troubling), stage.broken]);
  stage.endFaults();
  await Promise.all([acting, troubling]);
  acts.close();
}

/** Settles only if the work breaks. */
function broken(work: Promise<void>): Promise<never> {
  return work.then(() => new Promise<never>(() => {}));
}

type Facts = { waiting: Waiting; postgres: Record<string, string> };

async function reportOf({ dir, seed, minutes }: Run, { waiting, postgres }: Facts): Promise<Report> {
  const entries = readJournals(dir);
  const { judge } = await import('./oracle/index.ts');
  const { violations, counts } = await judge(dir);
  const waits = Object.entries(waiting).map(([what, count]) => `${what}: ${count}`);
  if (waits.length > 0)
    violations.push({ invariant: 'I13', what: 'something waits for ever', evidence: waits });
  const refused = refusedOf(entries);
  if (refused.length > 0)
    violations.push({
      invariant: 'F10',
      what: 'clients heard what no retry helps against',
      evidence: refused,
    });
  return {
    seed,
    minutes,
    commit: commitOf(),
    postgres,
    ...faultsOf(entries),
    load: loadOf(entries),
    counts,
    violations,
  };
}

function conclude(report: Report, dir: string): number {
  say(describeReport(report));
  if (report.violations.length > 0) say(`To look again: node verification/faults/main.ts --judge ${dir}`);
  say(summaryOf(report));
  return report.violations.length > 0 ? CODES.violated : CODES.held;
}

async function judgeAgain(dir: string): Promise<number> {
  const { seed } = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World;
  const known = { dir, seed, minutes: 0, perSecond: 0, every: 0 };
  return withCluster(dir, async (cluster) => {
    const postgres = await cluster.settings();
    return conclude(await reportOf(known, { waiting: {}, postgres }), dir);
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  process.exitCode =
    options.judge === undefined ? await run(readRun()) : await judgeAgain(resolve(options.judge));
} catch (error) {
  process.stderr.write(`The run itself broke: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = CODES.broken;
}
process.exit();
