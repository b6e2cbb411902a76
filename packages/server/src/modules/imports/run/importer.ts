import { claimImport, workOn } from './work-on.ts';
import type { ImportDeps } from './deps.ts';
import { IMPORTS_DUE } from '../claim-store.ts';
import { type Loop, runLoop } from '../../../platform/jobs/run-loop.ts';
import type { WorkWatch } from '../../../platform/jobs/work-watch.ts';

const POLL = { everyMs: 1_000 };
/** Each takes a connection for some milliseconds at a time. A slow source must not block other imports. */
const AT_ONCE = 3;

/** Runs the imports that members start: one per project at a time, and a few projects concurrently. */
export function startImporter(deps: ImportDeps & { watch?: WorkWatch }): Pick<Loop, 'stop'> {
  const watch = deps.watch?.add({ due: IMPORTS_DUE });
  const loops = Array.from({ length: AT_ONCE }, () =>
    runLoop({
      poll: POLL,
      watch,
      work: ({ stopping }) => runNext(deps, stopping),
      onFailure: (error) => deps.log.warn({ err: error }, 'imports.not_claimed'),
    }),
  );
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

async function runNext(deps: ImportDeps, stopping: AbortSignal): Promise<number> {
  const job = await claimImport(deps);
  if (!job) return 0;
  const ids = { project_id: job.projectId, import_id: job.id };
  try {
    deps.log.info({ ...ids, state: job.state, rows: job.counts.rows }, 'import.claimed');
    await workOn(deps, job, stopping);
  } catch (error) {
    // Its lease expires, and then it is retried.
    deps.log.warn({ ...ids, err: error }, 'import.retried');
  }
  return 1;
}
