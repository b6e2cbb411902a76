import type { Log, LogFields } from '../../platform/log.ts';
import { type AudienceVersionKey, listBuilding } from '../audiences/index.ts';
import { listCountingProjects } from '../users/index.ts';
import type { BuildStep } from './build-audience.ts';
import type { Processor } from './process.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Loop, runLoop } from '../../platform/jobs/run-loop.ts';
import { createFailureBackoff } from '../../platform/jobs/failure-backoff.ts';

const POLL = { everyMs: 1_000 };
/** Lets other processes take the project lock between two steps. */
const BETWEEN_STEPS_MS = 5;
const BUSY_MS = 50;
const VERSIONS_MAX = 100;
const PROJECTS_MAX = 100;

type BuilderOptions = { db: Database; processor: Processor; log: Log };

/**
 * Finds the members of new audience definitions and counts the events that new rules need. Works step by step beside processing,
 * round-robin between projects.
 */
export function startAudienceBuilder({ db, processor, log }: BuilderOptions): Loop {
  const backoff = createFailureBackoff();
  const nextWork = workFinder(db, processor);

  async function stepEach(items: Work[], stopping: AbortSignal): Promise<boolean> {
    let hasAdvanced = false;
    for (const work of items) {
      if (stopping.aborted) return hasAdvanced;
      if (!backoff.isOpen(work.of.projectId, db.clock.now())) continue;
      const step = await tryStep(work);
      if (step === 'served') log.info(fieldsOf(work), 'audience.built');
      if (step === 'served' || step === 'went on') hasAdvanced = true;
    }
    return hasAdvanced;
  }

  /** An error in one definition does not affect the others. */
  async function tryStep(work: Work): Promise<BuildStep | null> {
    const { of, step } = work;
    try {
      const result = await step();
      backoff.recordSuccess([of.projectId]);
      return result;
    } catch (error) {
      const retryInMs = backoff.recordFailure([of.projectId], db.clock.now());
      log.warn({ ...fieldsOf(work), retry_in_ms: retryInMs, err: error }, 'audience_build.failed');
      return null;
    }
  }

  return runLoop({
    poll: POLL,
    async work({ stopping, sleep }) {
      const items = await nextWork();
      if (items.length > 0) await sleep((await stepEach(items, stopping)) ? BETWEEN_STEPS_MS : BUSY_MS);
      return items.length;
    },
    onFailure: (error) => log.warn({ err: error }, 'audience_build.failed'),
  });
}

/** A step of work for one project, with the fields for its log messages. */
type Work = { of: { projectId: number; versionId?: number }; step: () => Promise<BuildStep> };

function fieldsOf({ of: { projectId, versionId } }: Work): LogFields {
  return { project_id: projectId, ...(versionId !== undefined && { definition: versionId }) };
}

/** Returns the next few definitions and counts after those of the previous round. */
function workFinder(db: Database, processor: Processor): () => Promise<Work[]> {
  let after: AudienceVersionKey | null = null;
  let counted: number | null = null;
  return async function nextWork() {
    const keys = await listBuilding(db, VERSIONS_MAX, after);
    after = keys.length < VERSIONS_MAX ? null : (keys.at(-1) ?? null);
    const projects = await listCountingProjects(db, { after: counted, limit: PROJECTS_MAX });
    counted = projects.length < PROJECTS_MAX ? null : (projects.at(-1) ?? null);
    return [
      ...keys.map((key): Work => ({ of: key, step: () => processor.build(key) })),
      ...projects.map((projectId): Work => ({ of: { projectId }, step: () => processor.count(projectId) })),
    ];
  };
}
