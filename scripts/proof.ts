import { spawnSync } from 'node:child_process';

/**
 * `npm run proof -- [name …] [--list]` runs every proof that is too long for the ordinary tests, one after the other, in some hours. Each
 * prints whether it passed, with its findings above that line.
 */
const STEPS: Record<string, { what: string; command: string[]; env?: Record<string, string> }> = {
  faults: {
    what: '30 minutes of faults under load, 0 violations',
    command: ['verification/faults/main.ts', '--minutes', '30', '--seed', '1'],
  },
  mutants: {
    what: '12 planted defects, each caught by the oracle',
    command: ['verification/faults/mutants.ts'],
  },
  simulate: {
    what: '10,000 seeds of the simulation',
    command: ['verification/simulation/main.ts', '--seeds', '10000'],
  },
  models: {
    what: 'three models, and each planted defect found',
    command: ['verification/simulation/models.ts'],
  },
  attacks: {
    what: 'S1 to S17, with an hour of fuzzing a parser',
    command: ['verification/attacks/main.ts', '--full'],
  },
  postgres: { what: 'the whole suite on the PostgreSQL of the system', command: ['scripts/on-postgres.ts'] },
  kills: {
    what: 'server, worker and PostgreSQL killed for longer, restores, 200 kills of webhooks, 100 between a request to a provider and its answer, every screen in dark',
    command: [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      'e2e/vitest.config.ts',
      'e2e/dashboard/accessible.test.ts',
      'e2e/processing-kills.test.ts',
      'e2e/relay-kills.test.ts',
      'e2e/restore.test.ts',
      'e2e/survival.test.ts',
      'e2e/timelines.test.ts',
      'e2e/webhook-kills.test.ts',
    ],
    env: { E2E_LONG: 'on', WEBHOOK_KILLS: '200', RELAY_KILLS: '100' },
  },
  restores: {
    what: 'backups, restores and upgrades with holes, lost histories and several containers',
    command: ['node_modules/vitest/vitest.mjs', 'run', 'packages/postgres'],
    env: { E2E_LONG: 'on' },
  },
  soak: {
    what: 'half an hour of steady load: heap, memory, queues',
    command: ['verification/bench/main.ts', 'soak', '--keep'],
  },
};

const stepNames = process.argv.slice(2);
if (stepNames.includes('--list'))
  for (const [name, { what }] of Object.entries(STEPS)) console.log(`${name}: ${what}`);
else process.exitCode = prove(stepNames.length === 0 ? Object.keys(STEPS) : stepNames);

function prove(names: string[]): number {
  const results = names.map((name): [string, boolean, number] => {
    const step = STEPS[name];
    if (!step) throw new Error(`There is no proof "${name}": ${Object.keys(STEPS).join(', ')}`);
    console.log(`\n${name}: ${step.what}`);
    const startedAt = performance.now();
    const env = { ...process.env, ...step.env };
    const { status } = spawnSync(process.execPath, step.command, { stdio: 'inherit', env });
    return [name, status === 0, (performance.now() - startedAt) / 60_000];
  });
  console.log('');
  for (const [name, held, minutes] of results)
    console.log(`${held ? 'held  ' : 'FAILED'} ${name} (${minutes.toFixed(1)} min): ${STEPS[name]?.what}`);
  return results.every(([, held]) => held) ? 0 : 1;
}
