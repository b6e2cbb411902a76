/**
 * The models of `verification/models`, each checked in all its states. The model of the product must have no violation, and each planted
 * defect must be detected. A search that reached one of its own limits proves nothing and fails too.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readPan, type Verdict } from './read-pan.ts';

export type Check = {
  model: 'accept-flush' | 'tenant-due' | 'send-once';
  /** Macros that choose the part of the model to check. */
  macros: string[];
  /** The planted defect. Null: none. */
  defect: string | null;
  /** `safety`: a violation never happens. `liveness`: progress happens eventually. */
  looksFor: 'safety' | 'liveness';
};
export type Checked = Check & { verdict: Verdict; isAsItShouldBe: boolean };

export const CHECKS: Check[] = [
  ...safety('accept-flush', []),
  ...safety('accept-flush', ['TWO_PROJECTS']),
  ...safety('accept-flush', ['ROOM']),
  ...safety('accept-flush', ['REVOKES']),
  ...liveness('accept-flush', []),
  ...liveness('accept-flush', ['REVOKES']),
  ...safety('accept-flush', [], 'ANSWERS_BEFORE_COMMIT', 'KEY_IN_ANOTHER_COMMIT', 'PLACES_BEFORE_LOCK'),
  ...safety('accept-flush', ['TWO_PROJECTS'], 'LOCKS_IN_ANY_ORDER'),
  ...safety('accept-flush', ['ROOM'], 'ROOM_BEFORE_LOCK'),
  ...safety('accept-flush', ['REVOKES'], 'KEYS_BEFORE_LOCK'),
  ...safety('tenant-due', []),
  ...liveness('tenant-due', []),
  ...liveness('tenant-due', ['FORGETS', 'SWEEP']),
  ...safety('tenant-due', [], 'RINGS_IF_SOONER', 'RINGS_AFTERWARDS', 'ASKS_BEFORE_HOLDING', 'SLEEPS_ON'),
  ...liveness('tenant-due', [], 'FORGETS'),
  ...safety('send-once', []),
  ...liveness('send-once', []),
  ...safety(
    'send-once',
    [],
    'NO_EPOCH',
    'PUTS_BACK_SUBMITTED',
    'RECLAIMS_SUBMITTED',
    'WIRE_BEFORE_COMMIT',
    'PAUSE_KEEPS_EPOCH',
    'CLAIMS_WITHHELD',
  ),
  ...liveness('send-once', [], 'NO_REAPER', 'NO_CORRECTION'),
];

function safety(model: Check['model'], macros: string[], ...defects: string[]): Check[] {
  return checksOf({ model, macros, looksFor: 'safety' }, defects);
}

function liveness(model: Check['model'], macros: string[], ...defects: string[]): Check[] {
  return checksOf({ model, macros, looksFor: 'liveness' }, defects);
}

function checksOf(check: Omit<Check, 'defect'>, defects: string[]): Check[] {
  const planted = defects.length === 0 ? [null] : defects;
  return planted.map((defect) => ({ ...check, defect }));
}

const run = promisify(execFile);
const FOLDER = resolve(import.meta.dirname, '../models');
/** A search that needs more time or memory shows that the model has grown too large. */
const TIME_LIMIT_MS = 120_000;
const MEMORY_MB = 1_024;
const DEPTH_MAX = 500_000;

/** Returns why models cannot be checked here, or null. */
export async function missingTools(): Promise<string | null> {
  for (const [tool, ask] of [
    ['spin', '-V'],
    ['gcc', '--version'],
  ] as const) {
    const isThere = await run(tool, [ask]).then(
      () => true,
      () => false,
    );
    if (!isThere) return `${tool} is not installed`;
  }
  return null;
}

/** Checks this many at a time, in the order of the list. */
export async function checkModels(checks: Check[], tell: (checked: Checked) => void): Promise<Checked[]> {
  const done: Checked[] = [];
  const waiting = [...checks];
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const checked = await checkModel(check);
      done.push(checked);
      tell(checked);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return done;
}

const AT_A_TIME = 2;

async function checkModel(check: Check): Promise<Checked> {
  const folder = await mkdtemp(join(tmpdir(), 'beckon-model-'));
  try {
    const verdict = readPan(await search(check, folder));
    const isFound = verdict.errors > 0;
    const isAsItShouldBe = check.defect === null ? !isFound && verdict.isComplete : isFound;
    return { ...check, verdict, isAsItShouldBe };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the output of the verifier. On a violation it exits with an error and prints the same. */
async function search({ model, macros, defect, looksFor }: Check, folder: string): Promise<string> {
  const options = { cwd: folder, timeout: TIME_LIMIT_MS, maxBuffer: 16 * 1024 * 1024 };
  const planted = defect === null ? [] : [macroOf(defect)];
  const defined = [...macros, ...planted].map((name) => `-D${name}`);
  await run('spin', [...defined, '-a', join(FOLDER, `${model}.pml`)], options);
  const isSafety = looksFor === 'safety';
  // Three more fairness slots than the default: fairness counts every process.
  const kind = isSafety ? ['-DSAFETY', '-DNOCLAIM'] : ['-DNFAIR=3'];
  // A defect is found quickly: optimizing would take longer than the search.
  const effort = defect === null ? '-O1' : '-O0';
  await run('gcc', [effort, '-w', `-DMEMLIM=${MEMORY_MB}`, ...kind, '-o', 'pan', 'pan.c'], options);
  const asked = isSafety ? [] : ['-a', '-f'];
  const { stdout } = await run('./pan', [...asked, `-m${DEPTH_MAX}`, '-w22'], options);
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
  const done = await checkModels(CHECKS, (checked) => console.log(lineOf(checked)));
  const wrong = done.filter(({ isAsItShouldBe }) => !isAsItShouldBe);
  console.log(`\n${done.length} searches, ${wrong.length} not as they should be`);
  if (wrong.length > 0) process.exitCode = 1;
}

export function lineOf({ model, macros, defect, looksFor, verdict, isAsItShouldBe }: Checked): string {
  const name = [model, ...macros, defect === null ? '' : `with ${defect}`].filter(Boolean).join(' ');
  const said = verdict.errors > 0 ? `found: ${verdict.found ?? 'an error'}` : 'nothing wrong';
  const how = verdict.isComplete || verdict.errors > 0 ? said : `${said}, but not all was looked at`;
  const size = `${verdict.states} states, ${verdict.depth} deep`;
  return `${isAsItShouldBe ? 'ok    ' : 'WRONG '} ${name} (${looksFor}): ${how}; ${size}`;
}

if (import.meta.main) await main();
