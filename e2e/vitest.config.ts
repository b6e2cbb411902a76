import { configDefaults, defineConfig } from 'vitest/config';

/** The faults under load kill the same processes in every run of CI; these ask one promise for longer, and are part of the proof. */
const LONG = ['digest-kills', 'restore', 'survival', 'webhook-kills'].map((name) => `e2e/${name}.test.ts`);
const left = process.env.E2E_LONG === 'on' ? [] : LONG;

const TIMEOUTS = { testTimeout: 120_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    globalSetup: ['packages/dashboard/build-once.ts'],
    projects: [
      // A browser and its server take turns, mostly.
      {
        test: {
          name: 'two at a time',
          include: ['e2e/{dashboard,docs}/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          ...TIMEOUTS,
        },
      },
      // Who kills and is killed waits most of the time.
      {
        test: {
          name: 'some at a time',
          include: ['e2e/*.test.ts', 'e2e/{cli,packages}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...left],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          ...TIMEOUTS,
        },
      },
    ],
  },
});
