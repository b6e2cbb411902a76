import { configDefaults, defineConfig } from 'vitest/config';
import { Sequencer } from './kit/sequencer.ts';

/** The faults under load kill the same processes in every CI run. These tests check one promise for longer and are part of the proof. */
const LONG = ['processing-kills', 'restore', 'survival', 'timelines', 'webhook-kills'].map(
  (name) => `e2e/${name}.test.ts`,
);
const left = process.env.E2E_LONG === 'on' ? [] : LONG;

export default defineConfig({
  test: {
    globalSetup: ['scripts/test-files.ts', 'packages/dashboard/build-once.ts', 'e2e/kit/shared-folder.ts'],
    include: ['e2e/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...left],
    // A browser and its server mostly take turns, and tests that kill processes wait most of the time.
    maxWorkers: 2,
    sequence: { sequencer: Sequencer },
    // Node.js loads the modules, as in production.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // One second by default, which a busy machine exceeds.
    expect: { poll: { timeout: 20_000 } },
  },
});
