import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stampOf } from './stamp.ts';

/** Builds the dashboard before tests that start servers; otherwise each server would build it. */
export default function setup(): void {
  const stampFile = join(import.meta.dirname, 'dist', 'stamp.json');
  const built = existsSync(stampFile)
    ? (JSON.parse(readFileSync(stampFile, 'utf8')) as { stamp: string }).stamp
    : '';
  if (built === stampOf(import.meta.dirname)) return;
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'build.ts')], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the dashboard could not be built');
}
