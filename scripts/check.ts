import { spawnSync } from 'node:child_process';

/** The checks that CI runs on every commit, cheapest first. All of them run, so that one pass shows every problem. */
const CHECKS: [string, string[]][] = [
  ['form', ['oxfmt', '--check', '.']],
  ['lint', ['oxlint', '--type-aware', '.']],
  ...['contract', 'client', 'cli', 'postgres', 'server', 'dashboard'].map((name): [string, string[]] => [
    `types of ${name}`,
    ['tsc', '-p', `packages/${name}`],
  ]),
  ['types of e2e, scripts, site, verification', ['tsc', '-p', '.']],
  ['dead code', ['knip']],
  ['platform packages', ['node', 'scripts/platform-packages.ts']],
  ['prose', ['node', 'scripts/check-prose.ts']],
];

const failed = CHECKS.filter(([name, [command = '', ...args]]) => {
  const startedAt = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  console.log(
    `${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
  );
  return status !== 0;
});
process.exitCode = failed.length === 0 ? 0 : 1;
