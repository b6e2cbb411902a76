import { defineConfig } from 'vitest/config';

const TIMEOUTS = { testTimeout: 120_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    globalSetup: ['packages/dashboard/build-once.ts'],
    projects: [
      // A browser beside its server has both hands full, and what stands in the README uses one port.
      {
        test: {
          name: 'one by one',
          include: ['e2e/{dashboard,docs}/**/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 0 },
          ...TIMEOUTS,
        },
      },
      // Who kills and is killed waits most of the time.
      {
        test: {
          name: 'two at a time',
          include: ['e2e/*.test.ts', 'e2e/{cli,packages}/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          ...TIMEOUTS,
        },
      },
    ],
  },
});
