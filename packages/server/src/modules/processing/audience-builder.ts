import type { Log, LogFields } from '../../platform/log.ts';
import { type AudienceVersionKey, listBuilding } from '../audiences/index.ts';
import { listCountingProjects } from '../users/index.ts';
import type { BuildStep } from './build-audience.ts';
import type { Processor } from './process.ts';
import type { Database } from '../../platform/db/database.ts';
import { createInterruptibleSleep } from '../../platform/jobs/sleep.ts';
import { createFailureBackoff } from '../../platform/jobs/failure-backoff.ts';

/**
 * Finds the members of new audience definitions and counts the events that new rules need. Works step by step beside processing,
 * round-robin between projects.
 */
export type AudienceBuilder = { stop(): Promise<void> };

const LOOK_EVERY_MS = 1_000;
/** Lets other processes take the project lock between two steps. */
const BETWEEN_STEPS_MS = 5;
const BUSY_MS = 50;
const VERSIONS_MAX = 100;
const PROJECTS_MAX = 100;

export function startAudienceBuilder({
  db,
  processor,
  log,
}: {
  db: Database;
  processor: Processor;
  log: Log;
}): AudienceBuilder {
  const pause = createInterruptibleSleep();
  const backoff = createFailureBackoff();
  const nextWork = workFinder(db, processor);
  let stopping = false;

  async function run(): Promise<void> {
    while (!stopping) await pause.sleep(await round());
  }

  async function round(): Promise<number> {
    try {
      const work = await nextWork();
      if (work.length === 0) return LOOK_EVERY_MS;
      return (await stepEach(work)) ? BETWEEN_STEPS_MS : BUSY_MS;
    } catch (error) {
      log.warn({ err: error }, 'audience_build.failed');
      return LOOK_EVERY_MS;
    }
  }

  async function stepEach(items: Work[]): Promise<boolean> {
    let hasAdvanced = false;
    for (const work of items) {
      if (stopping) return hasAdvanced;
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

  const running = run();
  return {
    async stop() {
      stopping = true;
      pause.end();
      await running;
    },
  };
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
