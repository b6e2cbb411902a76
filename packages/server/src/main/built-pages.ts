import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lifecycle } from '../platform/async/lifecycle.ts';
import { type AppState, readAppFiles } from '../platform/http/static/app.ts';
import { type GuideState, readGuide } from '../platform/http/static/mount-guide.ts';
import type { Log } from '../platform/log.ts';

const DASHBOARD = fileURLToPath(new URL('../../../dashboard', import.meta.url));

/**
 * Opens the dashboard. If its sources have changed since the build, a child process builds it while everything else is served already. An
 * image contains the build, and no sources.
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
  // An earlier build usually still works with this server, and is better than no page.
  const fail = async (error: unknown): Promise<void> => {
    deps.log.error({ err: error }, 'dashboard.not_built');
    await load().catch(() => {
      state = { kind: 'failed' };
    });
  };
  if (await isBuilt(folder, 'src')) await load().catch(fail);
  else void buildPages(deps, { folder, name: 'dashboard' }).then(load, fail).catch(fail);
  return () => state;
}

const SITE = fileURLToPath(new URL('../../../../site', import.meta.url));

/**
 * Opens the guide. It is read on the first request, and built then if its pages have changed since the build: most servers are started for
 * something else. An image contains the build.
 */
export function openGuide(deps: { log: Log; life: Lifecycle }, folder = SITE): () => GuideState {
  let state: GuideState | null = null;
  const load = async (): Promise<void> => {
    state = { kind: 'ready', ...(await readGuide(join(folder, 'dist'))) };
  };
  const fail = async (error: unknown): Promise<void> => {
    deps.log.error({ err: error }, 'guide.not_built');
    await load().catch(() => {
      state = { kind: 'failed' };
    });
  };
  const open = async (): Promise<void> => {
    if (!(await isBuilt(folder, 'pages.ts'))) await buildPages(deps, { folder, name: 'guide' });
    await load();
  };
  return () => {
    if (state === null) {
      state = { kind: 'building' };
      void open().catch(fail);
    }
    return state;
  };
}

const OUTPUT_MAX_CHARS = 2_000;

/** Returns whether `dist` was built from the current sources. Without sources, as in an image, it is used as it is. */
async function isBuilt(folder: string, source: string): Promise<boolean> {
  const stampFile = join(folder, 'stamp.ts');
  if (!existsSync(join(folder, source)) || !existsSync(stampFile)) return true;
  const { stampOf } = (await import(stampFile)) as { stampOf: (folder: string) => Promise<string> | string };
  const text = await readFile(join(folder, 'dist', 'stamp.json'), 'utf8').catch(() => '{}');
  const { stamp } = JSON.parse(text) as { stamp?: string };
  return stamp === (await stampOf(folder));
}

type Built = { folder: string; name: 'dashboard' | 'guide' };

/** Builds in a child process, `build.ts` of that folder, which ends with this process. */
function buildPages({ log, life }: { log: Log; life: Lifecycle }, { folder, name }: Built): Promise<void> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, [join(folder, 'build.ts')], { stdio: ['ignore', 'pipe', 'pipe'] });
    let isStopping = false;
    life.onStop(`${name} build`, () => {
      isStopping = true;
      child.kill();
      return Promise.resolve();
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        output = (output + data.toString()).slice(-OUTPUT_MAX_CHARS);
      });
    child.once('error', reject);
    child.once('close', (code) => {
      if (isStopping) return;
      if (code !== 0) return reject(new Error(`The ${name} could not be built: ${output}`));
      const ms = Math.round(performance.now() - startedAt);
      log.info({ ms }, name === 'guide' ? 'guide.built' : 'dashboard.built');
      resolve();
    });
  });
}
