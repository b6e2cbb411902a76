import type { Log } from '../../../platform/log.ts';
import { type AiDraftingLease, claimAiDrafting } from '../../drafts/index.ts';
import { createModels } from '../../rules/index.ts';
import type { Renderer } from '../../rendering/index.ts';
import { type AiDraftingDeps, runAiDrafting } from './word-draft.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { DraftModel } from './draft-model.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';

type AiDraftWriterOptions = {
  db: Database;
  log: Log;
  renderer: Renderer;
  model: DraftModel | null;
};

const AT_ONCE = 4;
/** The limit per run, so that a run ends. */
const EACH_MAX = 100;
/** Longer than two responses may take. After this time, the process that claimed the draft counts as dead. */
const CLAIMED_FOR_MS = 60_000;
/** A model that does not respond fails for all drafts. Waiting drafts are retried in the next run. */
const FAILURES_MAX = 3;

/**
 * Returns a job that has waiting drafts worded by the model, each in one process, those with the longest wait first. Without a model they
 * keep their text.
 */
export function aiDraftWriter(options: AiDraftWriterOptions): (run: JobRun) => Promise<void> {
  const { db, log, renderer, model } = options;
  const deps: AiDraftingDeps = { db, renderer, model, models: createModels(db.clock) };
  return async ({ stopping }) => {
    // Nearly always no draft waits, and one statement shows that.
    const first = await claimNext(db);
    if (!first) return;
    const run = { failures: 0 };
    const claims = [first, ...Array.from({ length: AT_ONCE - 1 }, () => undefined)];
    await Promise.all(claims.map((claim) => work({ deps, log, run, stopping }, claim)));
  };
}

function claimNext(db: AiDraftingDeps['db']): Promise<AiDraftingLease | null> {
  const now = db.clock.now();
  return claimAiDrafting(db, { now, until: now + CLAIMED_FOR_MS });
}

type Work = { deps: AiDraftingDeps; log: Log; run: { failures: number }; stopping: AbortSignal };

async function work({ deps, log, run, stopping }: Work, first?: AiDraftingLease): Promise<void> {
  const mayGoOn = (): boolean => !stopping.aborted && run.failures < FAILURES_MAX;
  let next = first;
  for (let count = 0; count < EACH_MAX && (next !== undefined || mayGoOn()); count += 1) {
    const claim = next ?? (await claimNext(deps.db));
    next = undefined;
    if (!claim) return;
    const result = await runOnce(deps, claim, { log, signal: stopping });
    if (result === 'later' || result === 'failed') run.failures += 1;
    else if (result === 'drafted' || result === 'refused') run.failures = 0;
  }
}

type RunContext = { log: Log; signal: AbortSignal };

/** Words one draft. A failure does not affect the others. */
async function runOnce(
  deps: AiDraftingDeps,
  claim: AiDraftingLease,
  { log, signal }: RunContext,
): Promise<string> {
  const startedAt = performance.now();
  const ids = { project_id: claim.projectId, draft_id: claim.draftId };
  try {
    const { result, reason } = await runAiDrafting(deps, claim, signal);
    const ms = Math.round(performance.now() - startedAt);
    const fields = { ...ids, result: result, ms };
    if (result === 'later' || result === 'failed') log.warn({ ...fields, reason }, 'ai_draft.failed');
    else if (result !== 'held') log.info(fields, 'ai_draft.finished');
    return result;
  } catch (error) {
    log.warn({ ...ids, err: error }, 'ai_draft.failed');
    return 'failed';
  }
}
