import type { Import } from '../import.ts';
import { claimImport, workOn } from './work-on.ts';
import type { ImportDeps } from './deps.ts';
import { createInterruptibleSleep } from '../../../platform/jobs/sleep.ts';

/** Runs the imports that members start: one per project at a time, and a few projects concurrently. */
export type Importer = { stop(): Promise<void> };

const POLL_EVERY_MS = 1_000;
/** Each takes a connection for some milliseconds at a time. A slow source must not block other imports. */
const AT_ONCE = 3;

export function startImporter(deps: ImportDeps): Importer {
  const pause = createInterruptibleSleep();
  const stop = new AbortController();

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const job = await next();
      if (job) await work(job);
      else await pause.sleep(POLL_EVERY_MS);
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

  async function work(job: Import): Promise<void> {
    const ids = { project_id: job.projectId, import_id: job.id };
    try {
      deps.log.info({ ...ids, state: job.state, rows: job.counts.rows }, 'import.claimed');
      await workOn(deps, job, stop.signal);
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
