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
import { takeFreeProjectLocks, withClockAhead } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import { isCanceled } from '../../platform/db/errors.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { compareBytes } from '../../platform/text/byte-order.ts';
import type { BatchDeps } from './process-batch.ts';
import { definitionChangeDecisions } from './evaluate-audiences.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';
import { insertActivity } from '../ingest/index.ts';
import type { PieceSizes } from './piece-sizes.ts';

/**
 * `busy`: another worker holds the project lock. `waits`: a version that this one refers to, or that must be served together with it, is
 * not ready yet.
 */
export type BuildStep = 'went on' | 'served' | 'busy' | 'waits' | 'gone';

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
  sizes: PieceSizes,
): Promise<BuildStep> {
  const { projectId, versionId } = key;
  return stepUnderLock(baseDeps, { projectId, sizes }, async (scope) => {
    const version = scope.model.audiences.byId.get(versionId);
    if (version?.state !== 'building') return 'gone';
    const counted = await countFirst(scope, version);
    return counted ?? (await evaluateNext({ ...scope, version, limit: scope.limitOf(`version ${versionId}`) }));
  });
}

/** Runs one step of counting an event that no definition waits for, because only conditions of rules use it. */
export function countStep(baseDeps: BatchDeps, projectId: number, sizes: PieceSizes): Promise<BuildStep> {
  return stepUnderLock(baseDeps, { projectId, sizes }, async (scope) => {
    const name = [...scope.model.counted].find(([, { isWhole }]) => !isWhole)?.[0];
    if (name === undefined) return 'gone';
    await incrementModel(scope.tx, projectId);
    await countNext(scope, name);
    return 'went on';
  });
}

type Scope = {
  tx: BatchTx;
  deps: BatchDeps;
  projectId: number;
  model: Model;
  /** Returns how many users the piece of this kind has. A step has at most one kind. */
  limitOf: (kind: string) => number;
};

async function stepUnderLock(
  baseDeps: BatchDeps,
  { projectId, sizes }: { projectId: number; sizes: PieceSizes },
  work: (scope: Scope) => Promise<BuildStep>,
): Promise<BuildStep> {
  const startedAt = performance.now();
  let piece: { name: string; limit: number } | null = null;
  const limitOf = (kind: string): number => {
    const name = `${projectId} ${kind}`;
    piece = { name, limit: sizes.next(name) };
    return piece.limit;
  };
  const record = (): void => {
    if (piece) sizes.record(piece.name, { ms: performance.now() - startedAt, limit: piece.limit });
  };
  try {
    return await inSession(baseDeps.db, async (tx) => {
      const [lock] = await takeFreeProjectLocks(tx, [projectId]);
      if (!lock) return 'busy';
      const deps = withClockAhead(baseDeps, lock.aheadMs);
      const [, models] = await Promise.all([preparePiece(tx), deps.models.of(tx, [lock])]);
      const model = models.get(projectId);
      if (!model) return 'gone';
      const step = await work({ tx, deps, projectId, model, limitOf });
      await tx.commit();
      if (step === 'went on') record();
      return step;
    });
  } catch (error) {
    if (isCanceled(error)) record();
    throw error;
  }
}

/**
 * A piece is a range of a primary key. With a bitmap scan or a sort, the database would read all users of the project for each piece. A plan
 * for the actual values leaves out the months of events outside of a window. A piece that is canceled is tried again with fewer users.
 */
async function preparePiece(tx: Tx): Promise<void> {
  await tx.query(
    `SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
       set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
       set_config('statement_timeout', '10s', true)`,
  );
}

type Step = Scope & { version: AudienceVersion; limit: number };

/** Returns null once every event that this version uses is counted. */
async function countFirst(scope: Scope, version: AudienceVersion): Promise<BuildStep | null> {
  const { tx, projectId, model } = scope;
  const names = [...version.mentions.totals].toSorted();
  const unknown = names.filter((name) => !model.counted.has(name));
  const unfinished = names.find((name) => model.counted.get(name)?.isWhole === false);
  if (unknown.length === 0 && unfinished === undefined) return null;
  await incrementModel(tx, projectId);
  if (unknown.length > 0) await beginCounting(tx, projectId, unknown);
  else if (unfinished !== undefined) await countNext(scope, unfinished);
  return 'went on';
}

function countNext({ tx, projectId, model, limitOf }: Scope, name: string): Promise<void> {
  const after = model.counted.get(name)?.countedTo ?? null;
  return countOn(tx, { projectId, name, after, limit: limitOf(`event ${name}`) });
}

/** Evaluates the next users, but no further than the versions that this one refers to have come. */
async function evaluateNext(step: Step): Promise<BuildStep> {
  const upTo = reachOfReferences(step);
  const piece = upTo === '' ? null : await evaluatePiece(step, upTo);
  if (piece && piece.people > 0) {
    await incrementModel(step.tx, step.projectId);
    return 'went on';
  }
  return upTo !== null && (await countRemaining(step, 1)) > 0 ? 'waits' : serveTogether(step);
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
