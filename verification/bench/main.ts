import { execFileSync } from 'node:child_process';
import { benchAccept } from './accept/index.ts';
import { benchAudiences } from './audiences/index.ts';
import { benchClient } from './client/index.ts';
import { compare } from './compare.ts';
import { benchCurves } from './curves/index.ts';
import { progress } from './fill.ts';
import { benchProcessing } from './processing/index.ts';
import { beginBench, beginRun, measuredTables } from './record.ts';
import { benchReview } from './review/index.ts';
import { keepResults, readResults, writePage } from './results.ts';
import { benchScale } from './scale/index.ts';
import { benchRules } from './rules/index.ts';
import { benchSend } from './send/index.ts';
import { benchSoak } from './soak/index.ts';
import { benchStripe } from './stripe/index.ts';
import { benchWebhooks } from './webhooks/index.ts';
import { benchWhole } from './whole/index.ts';

/**
 * `npm run bench -- [name [part …]] [--quick] [--keep] [--compare FILE]`
 *
 * Runs all benchmarks if none is named, each with its baseline in the same run. Their progress goes to stderr. `--keep` stores the
 * figures with the results of this repository and in docs/explanation/benchmarks.md, where each table replaces the one before. A run of
 * all benchmarks does so automatically. `--compare` prints the figures next to those of an earlier run.
 */
const BENCHES: Record<string, (parts: string[]) => Promise<void>> = {
  accept: benchAccept,
  process: benchProcessing,
  audiences: benchAudiences,
  rules: benchRules,
  whole: benchWhole,
  curves: benchCurves,
  scale: benchScale,
  review: benchReview,
  send: benchSend,
  webhooks: benchWebhooks,
  client: benchClient,
  stripe: benchStripe,
  soak: benchSoak,
};

const PROGRESS_EVERY_MS = 30_000;

const args = process.argv.slice(2);
const earlier = takeOption('--compare', 1)[1];
const keeps = takeOption('--keep', 0).length > 0;
const quick = args.includes('--quick');
const name = args[0]?.startsWith('--') ? undefined : args.shift();
const parts = args;
const selected = Object.entries(BENCHES).filter(([benchName]) => name === undefined || benchName === name);
if (selected.length === 0) throw new Error(`There is no bench "${name}": ${Object.keys(BENCHES).join(', ')}`);
beginRun({ commit: commitOf(), quick });
for (const [benchName, bench] of selected) {
  beginBench(benchName);
  await withProgress(benchName, () => bench(parts));
}
if (earlier !== undefined) console.log(compare(readResults(earlier), measuredTables()));
if (!quick && (keeps || name === undefined)) writePage(keepResults(measuredTables()));

/** Prints when a benchmark begins and ends, and every half minute that it is still running. */
async function withProgress(benchName: string, run: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const seconds = (): string => `${Math.round((performance.now() - startedAt) / 1_000)} s`;
  progress(`${benchName} begins`);
  const timer = setInterval(() => progress(`${benchName} is running, ${seconds()}`), PROGRESS_EVERY_MS);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  progress(`${benchName} ended after ${seconds()}`);
}

/** Removes an option of this script and its values from the arguments, so that the benchmark does not get it. */
function takeOption(option: string, values: number): string[] {
  const at = args.indexOf(option);
  return at < 0 ? [] : args.splice(at, 1 + values);
}

function commitOf(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
