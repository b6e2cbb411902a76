import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, MUTANTS } from './mutants/list.ts';
import type { Violation } from './oracle/index.ts';

/**
 * Checks that the fault run detects defects. Each mutant is applied to a copy of this repository, and the run there must end with the
 * invariant that the mutant breaks: `node verification/faults/mutants.ts [--only 03,09] [--minutes M] [--seed S]`. Exits with 0 if all were caught.
 */
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

const ROOT = join(import.meta.dirname, '../..');
const PATCHES = join(import.meta.dirname, 'mutants');
const VIOLATED = 1;
/** Time beyond the faults themselves: start, settling and checks, on a busy machine. */
const AROUND_MS = 20 * 60_000;
const RATE = '25';

type MutantResult = { mutant: Mutant; isCaught: boolean; detail: string };

/** Returns the chosen mutants in the order in which they are named. */
function chooseMutants(): Mutant[] {
  if (options.only === undefined) return MUTANTS;
  return options.only.split(',').map((prefix) => {
    const found = MUTANTS.find(({ name }) => name.startsWith(prefix));
    if (!found) throw new Error(`no mutant begins with ${prefix}`);
    return found;
  });
}

/** Copies all tracked and new files. Installed packages are linked, and our own packages are those of the copy. */
function copyTree(to: string): void {
  const output = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of output.split('\0').filter((path) => path !== '' && existsSync(join(ROOT, path)))) {
    mkdirSync(join(to, dirname(file)), { recursive: true });
    cpSync(join(ROOT, file), join(to, file));
  }
  const packages = readdirSync(join(ROOT, 'packages')).map((name) => join('packages', name));
  for (const folder of ['.', ...packages]) linkInstalled(join(folder, 'node_modules'), to);
}

function linkInstalled(folder: string, to: string): void {
  const from = join(ROOT, folder);
  if (!existsSync(from)) return;
  mkdirSync(join(to, folder), { recursive: true });
  for (const name of readdirSync(from)) {
    const entry = join(from, name);
    if (name.startsWith('@') && !lstatSync(entry).isSymbolicLink()) linkInstalled(join(folder, name), to);
    else symlinkSync(inCopy(realpathSync(entry), to), join(to, folder, name));
  }
}

function inCopy(path: string, to: string): string {
  const inside = relative(join(ROOT, 'packages'), path);
  return inside.startsWith('../..') || inside.includes('node_modules') ? path : join(to, 'packages', inside);
}

function patch({ name }: Mutant, copy: string, flags: string[] = []): void {
  execFileSync('git', ['apply', ...flags, join(PATCHES, `${name}.patch`)], {
    cwd: copy,
    // A repository in a parent directory of the copy must be ignored.
    env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(copy) },
  });
}

async function runMutant(mutant: Mutant, copy: string): Promise<MutantResult> {
  patch(mutant, copy);
  const dir = mkdtempSync(join(tmpdir(), 'beckon-mutant-'));
  const minutes = options.minutes ?? String(mutant.minutes);
  try {
    const args = [
      '--minutes',
      minutes,
      '--seed',
      options.seed,
      '--only',
      mutant.only,
      '--rate',
      RATE,
      '--dir',
      dir,
    ];
    const run = spawn(process.execPath, ['verification/faults/main.ts', ...args], {
      cwd: copy,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: Number(minutes) * 60_000 + AROUND_MS,
    });
    const [code] = (await once(run, 'exit')) as [number | null];
    return { mutant, ...resultOf(mutant, code, dir) };
  } finally {
    patch(mutant, copy, ['-R']);
    remove(dir);
  }
}

/** A broken run may have left a mounted disk in the directory. That is no reason to stop here. */
function remove(dir: string): void {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch (error) {
    print(`${dir} could not be removed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function resultOf({ breaks }: Mutant, code: number | null, dir: string): Omit<MutantResult, 'mutant'> {
  const report = join(dir, 'report.json');
  if (code !== VIOLATED || !existsSync(report))
    return { isCaught: false, detail: `the run ended with ${code ?? 'a signal'}` };
  const { violations } = JSON.parse(readFileSync(report, 'utf8')) as { violations: Violation[] };
  const found = violations.find(({ invariant }) => breaks.includes(invariant));
  const others = violations.map(({ invariant, problem }) => `${invariant}: ${problem}`).join('; ');
  return found
    ? { isCaught: true, detail: `${found.invariant}: ${found.problem}` }
    : { isCaught: false, detail: `only ${others}` };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const copy = mkdtempSync(join(tmpdir(), 'beckon-mutants-'));
const results: MutantResult[] = [];
try {
  const mutants = chooseMutants();
  copyTree(copy);
  // All patches are checked before the first run, because each run takes minutes.
  for (const mutant of mutants) patch(mutant, copy, ['--check']);
  for (const mutant of mutants) {
    const result = await runMutant(mutant, copy);
    results.push(result);
    print(
      `${result.isCaught ? 'caught' : 'MISSED'}  ${mutant.name.padEnd(32)} ${mutant.only.padEnd(6)} ${result.detail}`,
    );
  }
} finally {
  remove(copy);
}
const count = results.filter(({ isCaught }) => isCaught).length;
print(`mutants: seed ${options.seed}, ${count} of ${results.length} caught`);
process.exitCode = count === results.length && count > 0 ? 0 : 1;
