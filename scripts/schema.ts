import { spawnSync } from 'node:child_process';

/** Writes packages/server/schema.sql from a database that the migrations created, with the test that compares the two. */
const { status } = spawnSync('vitest', ['run', 'packages/server/src/platform/migrations'], {
  stdio: 'inherit',
  env: { ...process.env, UPDATE_SCHEMA: '1' },
});
process.exitCode = status ?? 1;
