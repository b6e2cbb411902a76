import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lifecycle } from '../platform/async/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { type GuideState, readGuide } from '../platform/http/static/mount-guide.ts';
import { buildPages, isBuilt } from './build-pages.ts';

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
