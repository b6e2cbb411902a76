import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that measure or change the process they run in: its memory, its timers, its signals, its globals. */
const ALONE = [
  'packages/server/src/main/*.test.ts',
  'packages/server/src/platform/outbound/**/*.test.ts',
  'packages/server/src/platform/http/body.test.ts',
  'packages/server/src/platform/async/{coalesce,write-behind}.test.ts',
  'packages/server/src/modules/inbound/{classification/mutations,tracking/flood}.test.ts',
  'packages/server/src/main/commands/serve.test.ts',
  'packages/postgres/**/*.test.ts',
  'verification/simulation/**/*.test.ts',
];
const DASHBOARD = ['packages/dashboard/**/*.test.ts'];
const EVERYTHING = ['packages/**/*.test.ts', 'scripts/**/*.test.ts', 'verification/**/*.test.ts'];
/** `expect.poll` waits for one second by default, which a busy machine exceeds. */
const TIMEOUTS = { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };

export default defineConfig({
  test: {
    globalSetup: [
      'scripts/test-files.ts',
      'packages/dashboard/build-once.ts',
      'packages/server/testing/factories/global-setup.ts',
    ],
    // Each waits for some of its time: for the database, for a process that starts, for one that it has killed.
    maxWorkers: 3,
    projects: [
      // Node.js loads the modules as in production. The module runner of Vite takes a third more CPU time.
      { test: { name: 'alone', include: ALONE, experimental: { viteModuleRunner: false }, ...TIMEOUTS } },
      // Node.js cannot load the components of the dashboard.
      { test: { name: 'dashboard', include: DASHBOARD, isolate: false, ...TIMEOUTS } },
      // These share the modules of a worker: to load the server anew for each file takes a third of the time.
      {
        test: {
          name: 'together',
          include: EVERYTHING,
          exclude: [...configDefaults.exclude, ...ALONE, ...DASHBOARD],
          isolate: false,
          experimental: { viteModuleRunner: false, nodeLoader: false },
          ...TIMEOUTS,
        },
      },
    ],
  },
});
