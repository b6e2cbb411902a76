import type { Log, LogFields } from '../../platform/log.ts';
import { type EditionPlace, listBuilding } from '../audiences/index.ts';
import { listCountingProjects } from '../users/index.ts';
import type { BuildStep } from './build-audience.ts';
import type { Digest } from './process.ts';
import type { Database } from '../../platform/db/database.ts';
import { createPause } from '../../platform/jobs/sleep.ts';
import { createTroubles } from '../../platform/jobs/failure-backoff.ts';

/**
 * Finds the members of new audience definitions and counts the events that new rules need. Works step by step beside processing,
 * round-robin between projects.
 */
export type Builder = { stop(): Promise<void> };

const LOOK_EVERY_MS = 1_000;
/** Lets other processes take the project lock between two steps. */
const BETWEEN_STEPS_MS = 5;
const BUSY_MS = 50;
const EDITIONS_MAX = 100;
const PROJECTS_MAX = 100;

export function startBuilder({ db, digest, log }: { db: Database; digest: Digest; log: Log }): Builder {
  const pause = createPause();
  const troubles = createTroubles();
  const nextWork = workFinder(db, digest);
  let stopping = false;

  async function run(): Promise<void> {
    while (!stopping) await pause.of(await round());
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

  async function stepEach(work: Work[]): Promise<boolean> {
    let wentOn = false;
    for (const one of work) {
      if (stopping) return wentOn;
      if (!troubles.isOpen(one.of.projectId, db.clock.now())) continue;
      const step = await tried(one);
      if (step === 'served') log.info(fieldsOf(one), 'audience.built');
      if (step === 'served' || step === 'went on') wentOn = true;
    }
    return wentOn;
  }

  /** An error in one definition does not affect the others. */
  async function tried(work: Work): Promise<BuildStep | null> {
    const { of, step } = work;
    try {
      const done = await step();
      troubles.passed([of.projectId]);
      return done;
    } catch (error) {
      const retryInMs = troubles.failed([of.projectId], db.clock.now());
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
type Work = { of: { projectId: number; edition?: number }; step: () => Promise<BuildStep> };

function fieldsOf({ of: { projectId, edition } }: Work): LogFields {
  return { project_id: projectId, ...(edition !== undefined && { definition: edition }) };
}

/** Returns the next few definitions and counts after those of the previous round. */
function workFinder(db: Database, digest: Digest): () => Promise<Work[]> {
  let after: EditionPlace | null = null;
  let counted: number | null = null;
  return async function nextWork() {
    const places = await listBuilding(db, EDITIONS_MAX, after);
    after = places.length < EDITIONS_MAX ? null : (places.at(-1) ?? null);
    const projects = await listCountingProjects(db, { after: counted, limit: PROJECTS_MAX });
    counted = projects.length < PROJECTS_MAX ? null : (projects.at(-1) ?? null);
    return [
      ...places.map((place): Work => ({ of: place, step: () => digest.build(place) })),
      ...projects.map((projectId): Work => ({ of: { projectId }, step: () => digest.count(projectId) })),
    ];
  };
}
