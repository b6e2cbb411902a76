import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openJournal, readJournals, type World } from './journal.ts';
import { performActions } from './load/actions.ts';
import { chooseFaults, injectFaults } from './plan.ts';
import {
  commitOf,
  describeReport,
  faultsOf,
  loadOf,
  refusalsOf,
  type Report,
  summaryOf,
  writeReport,
} from './report.ts';
import { type Cluster, openCluster } from './stage/cluster.ts';
import { type OpenStage, openStage } from './stage/open-stage.ts';
import { settle, type WaitingWork } from './stage/settle.ts';

/**
 * Runs the product under faults: `node verification/faults/main.ts --minutes 30 --seed 7 [--only F2,F3] [--dir DIR] [--rate N] [--every SECONDS]`.
 * `--short` runs the short version, and `--check DIR` checks an earlier run again from its directory. Exits with 0 if no promise was
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
    check: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

const SHORT_MINUTES = 1;
const SHORT_RATE = 25;
const QUIET_WITHIN_MS = 5 * 60_000;
const SEEDS = 1e9;
const CODES = { held: 0, violated: 1, broken: 2 };

type RunOptions = { dir: string; seed: number; minutes: number; perSecond: number; every: number };

function readRun(): RunOptions {
  const seed = options.seed === undefined ? Math.floor(Math.random() * SEEDS) : Number(options.seed);
  const minutes = options.short ? SHORT_MINUTES : Number(options.minutes);
  const perSecond = options.short ? SHORT_RATE : Number(options.rate);
  const every = Number(options.every);
  for (const [name, value] of Object.entries({ seed, minutes, rate: perSecond, every }))
    if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} must be a number`);
  const dir = resolve(options.dir ?? mkdtempSync(join(tmpdir(), 'beckon-faults-')));
  mkdirSync(dir, { recursive: true });
  // The account that PostgreSQL runs as needs access to the contents.
  chmodSync(dir, 0o755);
  return { dir, seed, minutes, perSecond, every };
}

async function run(runOptions: RunOptions): Promise<number> {
  const { dir, seed, minutes, every } = runOptions;
  const faults = chooseFaults(options.only?.split(',') ?? null);
  print(`seed ${seed}, ${minutes} minutes, in ${dir}`);
  const code = await withCluster(dir, async (cluster) => {
    const postgres = await cluster.settings();
    const stage = await openStage(cluster, runOptions);
    let waiting: WaitingWork;
    try {
      await runUnderFaults(stage, { minutes, work: () => injectFaults(stage, faults, { seed, every }) });
      print('the faults have ended: restoring everything and waiting until no work is left');
      waiting = await settle(stage, QUIET_WITHIN_MS);
    } finally {
      await stage.close();
    }
    const report = await reportOf(runOptions, { waiting, postgres });
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

type FaultPhase = { minutes: number; work: () => Promise<void> };

async function runUnderFaults(stage: OpenStage, { minutes, work }: FaultPhase): Promise<void> {
  const journal = openJournal(stage.dir, 'actions');
  const actions = performActions(stage, journal);
  const injections = work();
  // The run ends when its time is over, or earlier if any of them breaks.
  await Promise.race([pause(minutes * 60_000), rejectionOf(actions), rejectionOf(injections), stage.broken]);
  stage.endFaults();
  await Promise.all([actions, injections]);
  journal.close();
}

/** Settles only if the work breaks. */
function rejectionOf(work: Promise<void>): Promise<never> {
  return work.then(() => new Promise<never>(() => {}));
}

type Facts = { waiting: WaitingWork; postgres: Record<string, string> };

async function reportOf({ dir, seed, minutes }: RunOptions, { waiting, postgres }: Facts): Promise<Report> {
  const entries = readJournals(dir);
  const { checkRun } = await import('./oracle/index.ts');
  const { violations, counts } = await checkRun(dir);
  const waiters = Object.entries(waiting).map(([what, count]) => `${what}: ${count}`);
  if (waiters.length > 0)
    violations.push({ invariant: 'I13', problem: 'work never finishes', evidence: waiters });
  const refusals = refusalsOf(entries);
  if (refusals.length > 0)
    violations.push({
      invariant: 'F10',
      problem: 'clients got refusals that no retry can resolve',
      evidence: refusals,
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
  print(describeReport(report));
  if (report.violations.length > 0) print(`To check again: node verification/faults/main.ts --check ${dir}`);
  print(summaryOf(report));
  return report.violations.length > 0 ? CODES.violated : CODES.held;
}

async function checkAgain(dir: string): Promise<number> {
  const { seed } = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World;
  const previous = { dir, seed, minutes: 0, perSecond: 0, every: 0 };
  return withCluster(dir, async (cluster) => {
    const postgres = await cluster.settings();
    return conclude(await reportOf(previous, { waiting: {}, postgres }), dir);
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  process.exitCode =
    options.check === undefined ? await run(readRun()) : await checkAgain(resolve(options.check));
} catch (error) {
  process.stderr.write(`The run failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = CODES.broken;
}
process.exit();
