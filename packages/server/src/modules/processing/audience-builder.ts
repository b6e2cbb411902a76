import type { Log, LogFields } from '../../platform/log.ts';
import { type AudienceVersionKey, BUILDS_DUE, listBuilding } from '../audiences/index.ts';
import { COUNTS_DUE, listCountingProjects } from '../users/index.ts';
import type { BuildStep } from './build-audience.ts';
import type { Processor } from './process.ts';
import type { Database } from '../../platform/db/database.ts';
import { hasWork } from '../../platform/locks/store.ts';
import { type Loop, type LoopRound, runLoop } from '../../platform/jobs/run-loop.ts';
import type { WorkWatch } from '../../platform/jobs/work-watch.ts';
import { createFailureBackoff } from '../../platform/jobs/failure-backoff.ts';

const POLL = { everyMs: 1_000 };
/** Lets other processes take the project lock between two steps. */
const BETWEEN_STEPS_MS = 2;
/** The same while records wait: a processor that gathers them begins its next batch within 20 ms. */
const FOR_PROCESSING_MS = 30;
const BUSY_MS = 50;
/** How long a build is left to the process that works on it. If that process ends, this one continues after this time. */
const ELSEWHERE_MS = 1_000;
const VERSIONS_MAX = 100;
const PROJECTS_MAX = 100;

type BuilderOptions = {
  db: Database;
  processor: Processor;
  log: Log;
  watch?: WorkWatch;
  /** Called when records or due work wait for the project lock that a step held. */
  wakeProcessor: () => void;
};

/**
 * Finds the members of new audience definitions and counts the events that new rules need. Works step by step beside processing,
 * round-robin between projects.
 */
export function startAudienceBuilder({ db, processor, log, watch, wakeProcessor }: BuilderOptions): Loop {
  const backoff = createFailureBackoff();
  const nextWork = workFinder(db, processor);
  const rests = createRests();

  /** Returns how long to pause before the next round. */
  async function stepEach(items: Work[], { stopping, sleep }: LoopRound): Promise<number> {
    let pauseMs = ELSEWHERE_MS;
    for (const work of items) {
      if (stopping.aborted) return pauseMs;
      if (rests.has(work) || !backoff.isOpen(work.of.projectId, db.clock.now())) continue;
      const step = await tryStep(work);
      if (step === 'served') log.info(fieldsOf(work), 'audience.built');
      if (step === 'elsewhere') rests.add(work);
      else pauseMs = Math.min(pauseMs, hasAdvanced(step) ? BETWEEN_STEPS_MS : BUSY_MS);
      if (hasAdvanced(step) && (await isWorkWaiting(work))) await sleep(FOR_PROCESSING_MS);
    }
    return pauseMs;
  }

  /** The processor found the project locked, and would look again only at its next poll. */
  async function isWorkWaiting({ of: { projectId } }: Work): Promise<boolean> {
    const isWaiting = await hasWork(db, { projectId, now: new Date(db.clock.now()) });
    if (isWaiting) wakeProcessor();
    return isWaiting;
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
    watch: watch?.add({ due: `${BUILDS_DUE} UNION ALL ${COUNTS_DUE}` }),
    async work(round) {
      const items = await nextWork();
      if (items.length > 0) await round.sleep(await stepEach(items, round));
      return items.length;
    },
    onFailure: (error) => log.warn({ err: error }, 'audience_build.failed'),
  });
}

/** A step of work for one project, with the fields for its log messages. */
type Work = { of: { projectId: number; versionId?: number }; step: () => Promise<BuildStep> };

/** The builds that are left to other processes for a while. */
function createRests(): { add(work: Work): void; has(work: Work): boolean } {
  const until = new Map<string, number>();
  return {
    add(work) {
      if (until.size >= VERSIONS_MAX + PROJECTS_MAX) until.clear();
      until.set(nameOf(work), performance.now() + ELSEWHERE_MS);
    },
    has: (work) => performance.now() < (until.get(nameOf(work)) ?? 0),
  };
}

function hasAdvanced(step: BuildStep | null): boolean {
  return step === 'went on' || step === 'served';
}

function nameOf({ of: { projectId, versionId } }: Work): string {
  return `${projectId} ${versionId ?? 'counts'}`;
}

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
