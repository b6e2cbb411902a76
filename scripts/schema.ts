import { spawnSync } from 'node:child_process';

/** Writes packages/server/schema.sql anew from the migrations: the same test that compares it. */
const { status } = spawnSync('vitest', ['run', 'packages/server/src/io/migrations'], {
  stdio: 'inherit',
  env: { ...process.env, UPDATE_SCHEMA: '1' },
});
process.exitCode = status ?? 1;
