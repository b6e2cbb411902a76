import type { Import } from '../import.ts';
import { claimImport, workOn } from './work-on.ts';
import type { ImportDeps } from './deps.ts';
import { createPause } from '../../../platform/jobs/sleep.ts';

/** Runs the imports that members start: one per project at a time, and a few projects concurrently. */
export type Importer = { stop(): Promise<void> };

const LOOK_EVERY_MS = 1_000;
/** Each takes a connection for some milliseconds at a time. A slow source must not block other imports. */
const AT_ONCE = 3;

export function startImporter(deps: ImportDeps): Importer {
  const pause = createPause();
  const stop = new AbortController();

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const one = await next();
      if (one) await work(one);
      else await pause.of(LOOK_EVERY_MS);
    }
  }

  async function next(): Promise<Import | null> {
    try {
      return await claimImport(deps);
    } catch (error) {
      deps.log.warn({ err: error }, 'imports.not_claimed');
      return null;
    }
  }

  async function work(one: Import): Promise<void> {
    const ids = { project_id: one.projectId, import_id: one.id };
    try {
      deps.log.info({ ...ids, state: one.state, rows: one.counts.rows }, 'import.claimed');
      await workOn(deps, one, stop.signal);
    } catch (error) {
      // Its lease expires, and then it is retried.
      deps.log.warn({ ...ids, err: error }, 'import.retried');
    }
  }

  const running = Array.from({ length: AT_ONCE }, run);
  return {
    async stop() {
      stop.abort();
      pause.end();
      await Promise.all(running);
    },
  };
}
