import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lifecycle } from '../platform/async/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { type AppState, readAppFiles } from '../platform/http/static/app.ts';
import { buildPages, isBuilt } from './build-pages.ts';

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
