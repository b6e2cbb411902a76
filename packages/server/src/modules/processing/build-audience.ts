import {
  listMovedRows,
  advanceBuild,
  type AudienceVersionKey,
  buildPiece,
  type BuildPieceRow,
  serveAudienceVersion,
  countPeople,
  type AudienceVersion,
  rebuildAudiences,
} from '../audiences/index.ts';
import { beginCounting, countOn, countPeopleAfter } from '../users/index.ts';
import { writeDecisions, type Model } from '../rules/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { takeProjectLock, withClockAhead } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import { isCanceled, isLockTimeout } from '../../platform/db/errors.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { compareBytes } from '../../platform/text/byte-order.ts';
import type { BatchDeps } from './process-batch.ts';
import { definitionChangeDecisions } from './evaluate-audiences.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';
import { insertActivity } from '../ingest/index.ts';
import type { BuildTurns } from './build-turns.ts';

/**
 * `busy`: the project lock did not become free in time. `elsewhere`: another process works on this build. `waits`: a version that this one refers to, or that must be served together with it, is
 * not ready yet.
 */
export type BuildStep = 'went on' | 'served' | 'busy' | 'elsewhere' | 'waits' | 'gone';

/**
 * Runs one step towards the members of a new definition. Each step is one statement over the next users in the order of their ids.
 * Processing keeps the evaluations current for all users that a step has reached. At the end of the last step, all of them are therefore
 * correct.
 *
 *   count the events used without a window → evaluate all users → serve, with every audience that refers to the old version
 */
export function buildStep(
  baseDeps: BatchDeps,
  key: AudienceVersionKey,
  turns: BuildTurns,
): Promise<BuildStep> {
  const { projectId, versionId } = key;
  return stepUnderLock(baseDeps, { projectId, turns }, async (scope) => {
    const version = scope.model.audiences.byId.get(versionId);
    if (version?.state !== 'building') return 'gone';
    return (await countFirst(scope, version)) ?? (await evaluateNext(scope, version));
  });
}

/** Runs one step of counting an event that no definition waits for, because only conditions of rules use it. */
export function countStep(baseDeps: BatchDeps, projectId: number, turns: BuildTurns): Promise<BuildStep> {
  return stepUnderLock(baseDeps, { projectId, turns }, async (scope) => {
    const name = [...scope.model.counted].find(([, { isWhole }]) => !isWhole)?.[0];
    return name === undefined ? 'gone' : countNext(scope, name);
  });
}

type Scope = {
  tx: BatchTx;
  deps: BatchDeps;
  projectId: number;
  model: Model;
  /** Runs a piece of at most so many users. `piece` returns the result and the progress after it. */
  inTurn: (build: string, progress: string, piece: RunPiece) => Promise<BuildStep>;
};
type RunPiece = (limit: number) => Promise<{ step: BuildStep; progress: string }>;

/** Waits for the lock, because beside a live stream it is free only for some milliseconds at a time. */
async function stepUnderLock(
  baseDeps: BatchDeps,
  { projectId, turns }: { projectId: number; turns: BuildTurns },
  work: (scope: Scope) => Promise<BuildStep>,
): Promise<BuildStep> {
  let finish = (): void => {};
  try {
    const step = await inSession(baseDeps.db, async (tx) => {
      await preparePiece(tx);
      const lock = await takeProjectLock(tx, projectId);
      const startedAt = performance.now();
      const deps = withClockAhead(baseDeps, lock.aheadMs);
      const model = (await deps.models.of(tx, [lock])).get(projectId);
      if (!model) return 'gone';
      const inTurn: Scope['inTurn'] = async (name, before, piece) => {
        const build = `${projectId} ${name}`;
        const limit = turns.take(build, before);
        if (limit === null) return 'elsewhere';
        const record = (progress: string): void =>
          turns.record(build, { ms: performance.now() - startedAt, limit, progress });
        finish = () => record(before);
        const { step: result, progress } = await piece(limit);
        finish = () => record(progress);
        return result;
      };
      const result = await work({ tx, deps, projectId, model, inTurn });
      await tx.commit();
      return result;
    });
    finish();
    return step;
  } catch (error) {
    if (isLockTimeout(error)) return 'busy';
    // A piece that is canceled is tried again with fewer users.
    if (isCanceled(error)) finish();
    throw error;
  }
}

/**
 * A piece is a range of a primary key. With a bitmap scan or a sort, the database would read all users of the project for each piece. A plan
 * for the actual values leaves out the months of events outside of a window.
 */
async function preparePiece(tx: Tx): Promise<void> {
  await tx.query(
    `SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
       set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
       set_config('statement_timeout', '10s', true), set_config('lock_timeout', '1s', true)`,
  );
}

type Step = Scope & { version: AudienceVersion; limit: number };

/** Returns null once every event that this version uses is counted. */
async function countFirst(scope: Scope, version: AudienceVersion): Promise<BuildStep | null> {
  const { tx, projectId, model } = scope;
  const names = [...version.mentions.totals].toSorted();
  const unfinished = names.find((name) => model.counted.get(name)?.isWhole === false);
  if (unfinished !== undefined) return countNext(scope, unfinished);
  const unknown = names.filter((name) => !model.counted.has(name));
  if (unknown.length === 0) return null;
  await incrementModel(tx, projectId);
  await beginCounting(tx, projectId, unknown);
  return 'went on';
}

function countNext({ tx, projectId, model, inTurn }: Scope, name: string): Promise<BuildStep> {
  const after = model.counted.get(name)?.countedTo ?? null;
  return inTurn(`event ${name}`, after ?? '', async (limit) => {
    await incrementModel(tx, projectId);
    const last = await countOn(tx, { projectId, name, after, limit });
    return { step: 'went on', progress: last ?? '' };
  });
}

/** Evaluates the next users, but no further than the versions that this one refers to have come. */
function evaluateNext(scope: Scope, version: AudienceVersion): Promise<BuildStep> {
  const { builtTo, versionId } = version;
  return scope.inTurn(`version ${versionId}`, builtTo ?? '', async (limit) => {
    const step: Step = { ...scope, version, limit };
    const upTo = reachOfReferences(step);
    const piece = upTo === '' ? null : await evaluatePiece(step, upTo);
    if (piece && piece.last !== null) {
      await incrementModel(scope.tx, scope.projectId);
      return { step: 'went on', progress: piece.last };
    }
    const isWaiting = upTo !== null && (await countRemaining(step, 1)) > 0;
    return { step: isWaiting ? 'waits' : await serveTogether(step), progress: builtTo ?? '' };
  });
}

/** Returns the last user that all referenced versions cover, an empty text if one covers none, or null if they cover all. */
function reachOfReferences({ model: { audiences }, version }: Step): string | null {
  const reaches = [...version.references.values()].flatMap((id) => {
    const other = audiences.byId.get(id);
    return other?.state === 'building' ? [other.builtTo ?? ''] : [];
  });
  return reaches.toSorted(compareBytes)[0] ?? null;
}

function countRemaining({ tx, projectId, version }: Step, limit: number): Promise<number> {
  return countPeopleAfter(tx, { projectId, after: version.builtTo ?? '', limit });
}

/** A user who is already a member by the served definition keeps their `since` time. */
async function evaluatePiece(step: Step, upTo: string | null): Promise<BuildPieceRow> {
  const { tx, deps, projectId, model, version, limit } = step;
  const now = deps.db.clock.now();
  const { versionId, audienceId, predicate, references, timed } = version;
  const visible = model.audiences.versionFor(audienceId);
  const servedId = visible?.state === 'served' ? visible.versionId : null;
  const after = version.builtTo ?? '';
  const key = { projectId, versionId };
  const range = { after, upTo, limit, now: new Date(now) };
  const piece = await buildPiece(tx, { ...key, predicate, references, timed, servedId, ...range });
  const { last, people, joined, due_at: dueAt } = piece;
  if (last === null) return piece;
  await logMoves(step, { servedId, after, upTo: last, now });
  if (dueAt) await setTimersEarlier(tx, 'process', [{ projectId, nextAt: dueAt }]);
  await advanceBuild(tx, { ...key, builtTo: last, built: version.built + people, joined });
  return piece;
}

type MoveRange = { servedId: number | null; after: string; upTo: string; now: number };

/** Logs a decision for each user whom the new definition moves, if a rule has such a trigger. */
async function logMoves({ tx, projectId, model, version }: Step, range: MoveRange): Promise<void> {
  const { audienceId, versionId } = version;
  const { now, ...between } = range;
  const hasRules = (['joined', 'left'] as const).some(
    (move) => model.rules.onMove(audienceId, move).length > 0,
  );
  if (!hasRules) return;
  const moved = await listMovedRows(tx, { projectId, versionId, ...between });
  const decisions = moved.flatMap(({ external_user_id: userId, is_member }) =>
    definitionChangeDecisions(
      model,
      { projectId, userId },
      { audienceId, move: is_member ? 'joined' : 'left', now },
    ),
  );
  await writeDecisions(tx, decisions);
}

/**
 * Starts to serve the version. Audiences that refer to the old version would then read this one, and users would join and leave by that. So
 * those audiences are first rebuilt on this version, and all are served at once.
 */
async function serveTogether(step: Step): Promise<BuildStep> {
  const { tx, deps, projectId, model, version, limit } = step;
  const { together, missing } = servingGroup(model, version);
  if (missing.size > 0) {
    const people = await countPeople(tx, projectId);
    await rebuildAudiences({ tx, clock: deps.db.clock }, { projectId, audienceIds: [...missing], people });
    return 'went on';
  }
  for (const target of together) {
    const remaining = await countRemaining({ ...step, version: target }, limit);
    if (remaining === limit || !isCounted(model, target)) return 'waits';
  }
  for (const target of together) await evaluatePiece({ ...step, version: target }, null);
  await incrementModel(tx, projectId);
  for (const target of together) await serve({ ...step, version: target });
  return 'served';
}

function isCounted({ counted }: Model, { mentions }: AudienceVersion): boolean {
  return [...mentions.totals].every((name) => counted.get(name)?.isWhole);
}

/**
 * Returns the versions to serve together with this one, referenced ones first. `missing` has the audiences that refer to what it replaces
 * and are not being built yet.
 */
function servingGroup(
  { audiences }: Model,
  version: AudienceVersion,
): { together: AudienceVersion[]; missing: Set<string> } {
  const { versions } = audiences;
  const building = new Map(
    versions
      .filter(({ state }) => state === 'building')
      .map((candidate) => [candidate.audienceId, candidate]),
  );
  const group = new Set([version]);
  const missing = new Set<string>();
  for (const candidate of group) {
    for (const id of candidate.references.keys()) add(building.get(id));
    for (const other of versions) {
      if (other.state === 'building' || !other.references.has(candidate.audienceId)) continue;
      add(building.get(other.audienceId));
      if (!building.has(other.audienceId)) missing.add(other.audienceId);
    }
  }
  return { together: versions.filter((candidate) => group.has(candidate)), missing };

  function add(candidate: AudienceVersion | undefined): void {
    if (candidate) group.add(candidate);
  }
}

async function serve({ tx, deps, projectId, version }: Step): Promise<void> {
  const at = new Date(deps.db.clock.now());
  const served = await serveAudienceVersion(tx, { projectId, versionId: version.versionId, now: at });
  if (!served) throw new Error(`version ${version.versionId} is no longer being built`);
  const { audienceId, members } = served;
  const detail = JSON.stringify({ members });
  await insertActivity(tx, [
    { projectId, at, id: deps.newId(), kind: 'audience_built', userId: null, audienceId, detail },
  ]);
}
