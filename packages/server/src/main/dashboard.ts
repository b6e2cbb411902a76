import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { type AppState, readAppFiles } from '../http/index.ts';
import { buildPages, isBuilt } from './build-pages.ts';

const DASHBOARD = fileURLToPath(new URL('../../../dashboard', import.meta.url));

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
  if (await isBuilt(folder, 'src')) await load().catch(fail);
  else void buildPages(deps, { folder, name: 'dashboard' }).then(load, fail).catch(fail);
  return () => state;
}
