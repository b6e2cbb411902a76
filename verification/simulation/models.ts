/**
 * The models of `verification/models`, each checked in all its states. The model of the product must have no violation, and each planted
 * defect must be detected. A search that reached one of its own limits proves nothing and fails too.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readPan, type SearchResult } from './read-pan.ts';

export type Check = {
  model: 'accept-flush' | 'project-timer' | 'send-once';
  /** Macros that choose the part of the model to check. */
  macros: string[];
  /** The planted defect. Null: none. */
  defect: string | null;
  /** `safety`: a violation never happens. `liveness`: progress happens eventually. */
  property: 'safety' | 'liveness';
};
export type CheckResult = Check & { search: SearchResult; isExpected: boolean };

export const CHECKS: Check[] = [
  ...safety('accept-flush', []),
  ...safety('accept-flush', ['TWO_PROJECTS']),
  ...safety('accept-flush', ['QUEUE_SPACE']),
  ...safety('accept-flush', ['REVOKES']),
  ...liveness('accept-flush', []),
  ...liveness('accept-flush', ['REVOKES']),
  ...safety('accept-flush', [], 'ANSWERS_BEFORE_COMMIT', 'KEY_IN_ANOTHER_COMMIT', 'SEQUENCE_BEFORE_LOCK'),
  ...safety('accept-flush', ['TWO_PROJECTS'], 'LOCKS_IN_ANY_ORDER'),
  ...safety('accept-flush', ['QUEUE_SPACE'], 'SPACE_BEFORE_LOCK'),
  ...safety('accept-flush', ['REVOKES'], 'KEYS_BEFORE_LOCK'),
  ...safety('project-timer', []),
  ...liveness('project-timer', []),
  ...liveness('project-timer', ['FORGETS', 'SWEEP']),
  ...safety(
    'project-timer',
    [],
    'SETS_ALARM_IF_SOONER',
    'SETS_ALARM_AFTERWARDS',
    'READS_BEFORE_LOCK',
    'DROPS_REMAINING_WORK',
  ),
  ...liveness('project-timer', [], 'FORGETS'),
  ...safety('send-once', []),
  ...liveness('send-once', []),
  ...safety(
    'send-once',
    [],
    'NO_EPOCH',
    'RETURNS_SUBMITTED',
    'RECLAIMS_SUBMITTED',
    'WIRE_BEFORE_COMMIT',
    'PAUSE_KEEPS_EPOCH',
    'CLAIMS_WITHHELD',
  ),
  ...liveness('send-once', [], 'NO_REAPER', 'NO_CORRECTION'),
];

function safety(model: Check['model'], macros: string[], ...defects: string[]): Check[] {
  return checksOf({ model, macros, property: 'safety' }, defects);
}

function liveness(model: Check['model'], macros: string[], ...defects: string[]): Check[] {
  return checksOf({ model, macros, property: 'liveness' }, defects);
}

function checksOf(check: Omit<Check, 'defect'>, defects: string[]): Check[] {
  const defectsOrNone = defects.length === 0 ? [null] : defects;
  return defectsOrNone.map((defect) => ({ ...check, defect }));
}

const run = promisify(execFile);
const FOLDER = resolve(import.meta.dirname, '../models');
/** A search that needs more time or memory shows that the model has grown too large. */
const TIME_LIMIT_MS = 120_000;
const MEMORY_MB = 1_024;
const DEPTH_MAX = 500_000;

/** Returns why models cannot be checked here, or null. */
export async function missingTools(): Promise<string | null> {
  for (const [tool, versionFlag] of [
    ['spin', '-V'],
    ['gcc', '--version'],
  ] as const) {
    const isInstalled = await run(tool, [versionFlag]).then(
      () => true,
      () => false,
    );
    if (!isInstalled) return `${tool} is not installed`;
  }
  return null;
}

/** Checks this many at a time, in the order of the list. */
export async function checkModels(
  checks: Check[],
  onResult: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const waiting = [...checks];
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const result = await checkModel(check);
      results.push(result);
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return results;
}

const CONCURRENCY = 2;

async function checkModel(check: Check): Promise<CheckResult> {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-model-'));
  try {
    const search = readPan(await runSearch(check, folder));
    const isFound = search.errors > 0;
    const isExpected = check.defect === null ? !isFound && search.isComplete : isFound;
    return { ...check, search, isExpected };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the output of the verifier. On a violation it exits with an error and prints the same. */
async function runSearch({ model, macros, defect, property }: Check, folder: string): Promise<string> {
  const options = { cwd: folder, timeout: TIME_LIMIT_MS, maxBuffer: 16 * 1024 * 1024 };
  const defectMacros = defect === null ? [] : [macroOf(defect)];
  const defined = [...macros, ...defectMacros].map((name) => `-D${name}`);
  await run('spin', [...defined, '-a', join(FOLDER, `${model}.pml`)], options);
  const isSafety = property === 'safety';
  // Three more fairness slots than the default: fairness counts every process.
  const kind = isSafety ? ['-DSAFETY', '-DNOCLAIM'] : ['-DNFAIR=3'];
  // A defect is found quickly: optimizing would take longer than the search.
  const optimization = defect === null ? '-O1' : '-O0';
  await run('gcc', [optimization, '-w', `-DMEMLIM=${MEMORY_MB}`, ...kind, '-o', 'pan', 'pan.c'], options);
  const flags = isSafety ? [] : ['-a', '-f'];
  const { stdout } = await run('./pan', [...flags, `-m${DEPTH_MAX}`, '-w22'], options);
  return stdout;
}

/** `FORGETS` is a defect only if the rest of the model does not compensate for it, so it has its own macro. */
function macroOf(defect: string): string {
  return defect === 'FORGETS' ? defect : `DEFECT_${defect}`;
}

/** `npm run models`: prints the table and sets an exit code. */
async function main(): Promise<void> {
  const missing = await missingTools();
  if (missing !== null) {
    console.error(`The models cannot be checked here: ${missing}.`);
    process.exitCode = 1;
    return;
  }
  const results = await checkModels(CHECKS, (result) => console.log(lineOf(result)));
  const unexpected = results.filter(({ isExpected }) => !isExpected);
  console.log(`\n${results.length} searches, ${unexpected.length} with an unexpected result`);
  if (unexpected.length > 0) process.exitCode = 1;
}

export function lineOf({ model, macros, defect, property, search, isExpected }: CheckResult): string {
  const name = [model, ...macros, defect === null ? '' : `with ${defect}`].filter(Boolean).join(' ');
  const outcome = search.errors > 0 ? `found: ${search.found ?? 'an error'}` : 'nothing wrong';
  const coverage =
    search.isComplete || search.errors > 0 ? outcome : `${outcome}, but the search was not complete`;
  const size = `${search.states} states, ${search.depth} deep`;
  return `${isExpected ? 'ok    ' : 'WRONG '} ${name} (${property}): ${coverage}; ${size}`;
}

if (import.meta.main) await main();
