import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lifecycle } from '../platform/async/lifecycle.ts';
import type { Log } from '../platform/log.ts';

const SAID_MAX_CHARS = 2_000;

/** Returns whether `dist` was built from the current sources. Without sources, as in an image, it is used as it is. */
export async function isBuilt(folder: string, source: string): Promise<boolean> {
  const stampFile = join(folder, 'stamp.ts');
  if (!existsSync(join(folder, source)) || !existsSync(stampFile)) return true;
  const { stampOf } = (await import(stampFile)) as { stampOf: (folder: string) => Promise<string> | string };
  const text = await readFile(join(folder, 'dist', 'stamp.json'), 'utf8').catch(() => '{}');
  const { stamp } = JSON.parse(text) as { stamp?: string };
  return stamp === (await stampOf(folder));
}

type Built = { folder: string; name: 'dashboard' | 'guide' };

/** Builds in a child process, `build.ts` of that folder, which ends with this process. */
export function buildPages(
  { log, life }: { log: Log; life: Lifecycle },
  { folder, name }: Built,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, [join(folder, 'build.ts')], { stdio: ['ignore', 'pipe', 'pipe'] });
    let isStopping = false;
    life.onStop(`${name} build`, () => {
      isStopping = true;
      child.kill();
      return Promise.resolve();
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        said = (said + data.toString()).slice(-SAID_MAX_CHARS);
      });
    child.once('error', reject);
    child.once('close', (code) => {
      if (isStopping) return;
      if (code !== 0) return reject(new Error(`The ${name} could not be built: ${said}`));
      const ms = Math.round(performance.now() - startedAt);
      log.info({ ms }, name === 'guide' ? 'guide.built' : 'dashboard.built');
      resolve();
    });
  });
}
