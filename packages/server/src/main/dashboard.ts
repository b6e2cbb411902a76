import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { type AppState, readAppFiles } from '../http/index.ts';

const DASHBOARD = fileURLToPath(new URL('../../../dashboard', import.meta.url));
const SAID_MAX_CHARS = 2_000;

/**
 * The dashboard as it is served. Where its sources are other than those it was built from, it is built by a child while
 * everything else is served already. An image carries the build, and no sources.
 */
export async function openDashboard(
  deps: { log: Log; life: Lifecycle },
  folder = DASHBOARD,
): Promise<() => AppState> {
  let state: AppState = { kind: 'building' };
  const dist = join(folder, 'dist');
  const load = async (): Promise<void> => {
    state = { kind: 'ready', ...(await readAppFiles(dist)) };
  };
  // What was built before still works with this server, mostly; better than nothing it is.
  const fail = async (error: unknown): Promise<void> => {
    deps.log.error({ err: error }, 'dashboard.not_built');
    await load().catch(() => {
      state = { kind: 'failed' };
    });
  };
  if (await isBuilt(folder, dist)) await load().catch(fail);
  else void build(deps, folder).then(load, fail).catch(fail);
  return () => state;
}

async function isBuilt(folder: string, dist: string): Promise<boolean> {
  const stampFile = join(folder, 'stamp.ts');
  if (!existsSync(join(folder, 'src')) || !existsSync(stampFile)) return true;
  const { stampOf } = (await import(stampFile)) as { stampOf: (folder: string) => Promise<string> | string };
  const text = await readFile(join(dist, 'stamp.json'), 'utf8').catch(() => '{}');
  const { stamp } = JSON.parse(text) as { stamp?: string };
  return stamp === (await stampOf(folder));
}

function build({ log, life }: { log: Log; life: Lifecycle }, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, [join(folder, 'build.ts')], { stdio: ['ignore', 'pipe', 'pipe'] });
    let isStopping = false;
    life.onStop('dashboard build', () => {
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
      if (code !== 0) return reject(new Error(`The dashboard could not be built: ${said}`));
      log.info({ ms: Math.round(performance.now() - startedAt) }, 'dashboard.built');
      resolve();
    });
  });
}
