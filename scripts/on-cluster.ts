import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob, relative } from 'node:path';
import { type FileResult, RESULTS_VARIABLE } from './cluster-results.ts';

/** Test files that a cluster cannot run, with the reason. */
export const NOT_APPLICABLE: { why: string; files: string[] }[] = [
  {
    why: 'Starts, stops or upgrades the embedded database',
    files: [
      'main/local-shell.test.ts',
      'main/prepare.test.ts',
      'main/upgrade-schema.test.ts',
      'main/commands/serve.test.ts',
    ],
  },
  {
    why: 'Backs up or restores one PostgreSQL. The nodes of a cluster are backed up together, with the tools of their operator',
    files: ['main/backups.test.ts', 'main/backup-passphrase.test.ts', 'main/commands/restore.test.ts'],
  },
  {
    why: 'Clones a database, or creates one beside it',
    files: [
      'platform/db/scratch.test.ts',
      'platform/db/migrate.test.ts',
      'modules/rules/backtest/**/*.test.ts',
    ],
  },
  {
    why: 'Starts from a database that is not distributed',
    files: [
      'platform/db/distribute.test.ts',
      'platform/db/distributed.test.ts',
      'platform/migrations/**/*.test.ts',
    ],
  },
  {
    why: 'Waits until a session is blocked, which the views of one node do not show',
    files: [
      'modules/ingest/{accept/accept,keys/keys,api/crowd,api/503}.test.ts',
      'modules/webhooks/endpoints/change-at-once.test.ts',
      'modules/profiles/{user-routes,erase-while-dispatching}.test.ts',
      'modules/administration/{pause-project,set-settings}.test.ts',
      'platform/db/database.test.ts',
    ],
  },
];

const ROOT = join(import.meta.dirname, '..');
const SERVER = 'packages/server/src';
/** Survives an interrupted run. The next run continues with the files that have not passed. */
const RESULTS = join(tmpdir(), 'beckon-cluster-results.jsonl');

/**
 * Runs the server's tests on the cluster whose coordinator `TEST_CLUSTER_URL` names, one file after the other. `--fresh` also repeats the
 * files that passed in an interrupted run. Reports how many files passed, failed, were skipped or do not apply.
 */
export function runOnCluster(args: string[]): number {
  if (!process.env.TEST_CLUSTER_URL) {
    console.log('skipped: TEST_CLUSTER_URL does not name the coordinator of a cluster');
    return 0;
  }
  const patterns = args.filter((arg) => !arg.startsWith('--'));
  if (args.includes('--fresh')) rmSync(RESULTS, { force: true });
  const all = globSync(`${SERVER}/**/*.test.ts`, { cwd: ROOT }).toSorted();
  const chosen = all.filter(
    (file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)),
  );
  const applicable = chosen.filter((file) => reasonAgainst(file) === undefined);
  const passed = new Set(readResults().flatMap(({ file, state }) => (state === 'failed' ? [] : [file])));
  const files = applicable.filter((file) => !passed.has(file));
  console.log(`${applicable.length} files apply, ${applicable.length - files.length} of them passed before`);
  const status = files.length === 0 ? 0 : runVitest(files);
  report(chosen, applicable);
  return status;
}

function runVitest(files: string[]): number {
  const options = ['--no-file-parallelism', '--maxWorkers=1', '--reporter=./scripts/cluster-results.ts'];
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...options, ...files],
    {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, [RESULTS_VARIABLE]: RESULTS },
    },
  );
  return status ?? 1;
}

function reasonAgainst(file: string): string | undefined {
  const name = relative(SERVER, file);
  return NOT_APPLICABLE.find(({ files }) => files.some((pattern) => matchesGlob(name, pattern)))?.why;
}

/** Returns the last result of each file. */
function readResults(): FileResult[] {
  if (!existsSync(RESULTS)) return [];
  const lines = readFileSync(RESULTS, 'utf8').split('\n').filter(Boolean);
  const results = lines.map((line) => JSON.parse(line) as FileResult);
  return [...new Map(results.map((result) => [result.file, result])).values()];
}

function report(chosen: string[], applicable: string[]): void {
  const of = new Set(applicable);
  const results = readResults().filter(({ file }) => of.has(file));
  const count = (state: FileResult['state']): number =>
    results.filter((result) => result.state === state).length;
  for (const { file, failures } of results.filter(({ state }) => state === 'failed')) {
    console.log(`failed: ${file}`);
    for (const failure of failures) console.log(`  ${failure}`);
  }
  for (const { why, files } of NOT_APPLICABLE) {
    const listed = chosen.filter((file) =>
      files.some((pattern) => matchesGlob(relative(SERVER, file), pattern)),
    );
    if (listed.length > 0)
      console.log(`not applicable: ${why}: ${listed.map((file) => relative(SERVER, file)).join(', ')}`);
  }
  const tests = results.reduce(
    (sum, { passed, skipped, failures }) => sum + passed + skipped + failures.length,
    0,
  );
  console.log(
    `${results.length} of ${applicable.length} files run: ${count('passed')} passed, ${count('failed')} failed, ` +
      `${count('skipped')} skipped; ${chosen.length - applicable.length} not applicable; ${tests} tests`,
  );
}
