import {
  findSince,
  writeMemberships,
  advanceBuild,
  type AudienceVersionKey,
  serveAudienceVersion,
  countPeople,
  type AudienceVersion,
  rebuildAudiences,
} from '../audiences/index.ts';
import { beginCounting, countOn, listPeople, type Person } from '../users/index.ts';
import { type Decision, writeDecisions, type Model } from '../rules/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { takeFreeProjectLocks, withClockAhead } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import type { BatchDeps } from './process-batch.ts';
import { evaluateAudiences, earliestTimers, definitionChangeDecisions } from './evaluate-audiences.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';
import { insertActivity } from '../ingest/index.ts';
import { addEvaluations, noWrites } from './membership-writes.ts';
import { builtUpTo, covers } from './evaluate-membership.ts';

/**
 * `busy`: another worker holds the project lock. `waits`: a version that this one refers to, or that must be served together with it, is
 * not ready yet.
 */
export type BuildStep = 'went on' | 'served' | 'busy' | 'waits' | 'gone';

/** Small enough that a step holds the project lock for about ten milliseconds, so that live batches run in between. */
const PEOPLE_OF_STEP = 500;

/**
 * Runs one step towards the members of a new definition. Users are evaluated in the order of their ids. Processing keeps the evaluations
 * current for all users that a step has reached. At the end of the last step, all of them are therefore correct.
 *
 *   count the events used without a window → evaluate all users → serve, with every audience that refers to the old version
 */
export function buildStep(baseDeps: BatchDeps, key: AudienceVersionKey): Promise<BuildStep> {
  return inSession(baseDeps.db, async (tx) => {
    const { projectId } = key;
    const [lock] = await takeFreeProjectLocks(tx, [projectId]);
    if (!lock) return 'busy';
    const deps = withClockAhead(baseDeps, lock.aheadMs);
    const model = (await deps.models.of(tx, [lock])).get(projectId);
    const version = model?.audiences.byId.get(key.versionId);
    if (!model || !version || version.state !== 'building') return 'gone';
    const step: Step = { tx, deps, projectId, model, version };
    const counting = await countFirst(step);
    const result = counting ?? (await evaluateNext(step));
    await tx.commit();
    return result;
  });
}

/** Runs one step of counting an event that no definition waits for, because only conditions of rules use it. */
export function countStep(deps: BatchDeps, projectId: number): Promise<BuildStep> {
  return inSession(deps.db, async (tx) => {
    const [lock] = await takeFreeProjectLocks(tx, [projectId]);
    if (!lock) return 'busy';
    const model = (await deps.models.of(tx, [lock])).get(projectId);
    const name = [...(model?.counted ?? [])].find(([, { isWhole }]) => !isWhole)?.[0];
    if (!model || name === undefined) return 'gone';
    await incrementModel(tx, projectId);
    await countNext(tx, { projectId, name, after: model.counted.get(name)?.countedTo ?? null });
    await tx.commit();
    return 'went on';
  });
}

type Step = { tx: BatchTx; deps: BatchDeps; projectId: number; model: Model; version: AudienceVersion };

/** Returns null once every event that this version uses is counted. */
async function countFirst({ tx, projectId, model, version }: Step): Promise<BuildStep | null> {
  const names = [...version.mentions.totals].toSorted();
  const unknown = names.filter((name) => !model.counted.has(name));
  const unfinished = names.find((name) => model.counted.get(name)?.isWhole === false);
  if (unknown.length === 0 && unfinished === undefined) return null;
  await incrementModel(tx, projectId);
  if (unknown.length > 0) await beginCounting(tx, projectId, unknown);
  else if (unfinished !== undefined) {
    const after = model.counted.get(unfinished)?.countedTo ?? null;
    await countNext(tx, { projectId, name: unfinished, after });
  }
  return 'went on';
}

async function countNext(
  tx: BatchTx,
  { projectId, name, after }: { projectId: number; name: string; after: string | null },
): Promise<void> {
  const people = await listPeople(tx, { projectId, after, limit: PEOPLE_OF_STEP });
  await countOn(tx, { projectId, name, users: people.map(({ userId }) => userId) });
}

/** Evaluates the next users, but no further than the versions that this one refers to have come. */
async function evaluateNext(step: Step): Promise<BuildStep> {
  const { model, version } = step;
  const remaining = await listRemaining(step, version);
  if (remaining.length === 0) return serveTogether(step);
  const references = referencesOf(model, version);
  const ready = remaining.filter(({ userId }) => references.every((other) => covers(other, userId)));
  if (ready.length === 0) return 'waits';
  await evaluatePeople(step, ready);
  await incrementModel(step.tx, step.projectId);
  return 'went on';
}

function listRemaining({ tx, projectId }: Step, { builtTo: after }: AudienceVersion): Promise<Person[]> {
  return listPeople(tx, { projectId, after, limit: PEOPLE_OF_STEP });
}

function referencesOf({ audiences }: Model, { references }: AudienceVersion): AudienceVersion[] {
  return [...references.values()].flatMap((number) => audiences.byId.get(number) ?? []);
}

/** A user who is already a member by the served definition keeps their `since` time. */
async function evaluatePeople(
  { tx, deps, projectId, model, version }: Step,
  people: Person[],
): Promise<void> {
  const lastUserId = people.at(-1)?.userId;
  if (lastUserId === undefined) return;
  const now = deps.db.clock.now();
  const at = new Date(now);
  const versions = [builtUpTo(version, lastUserId)];
  const audienceEvaluations = await evaluateAudiences(
    tx,
    people.map((person) => ({ person, model, versions })),
    { now },
  );
  const writes = noWrites();
  const served = model.audiences.versionFor(version.audienceId)?.versionId;
  const users = people.map(({ userId }) => userId);
  const sinceByUser =
    served === undefined
      ? new Map<string, Date>()
      : await findSince(tx, { projectId, versionId: served, users });
  const decisions: Decision[] = [];
  for (const { person, evaluations } of audienceEvaluations) {
    const since = sinceByUser.get(person.userId);
    addEvaluations(writes, { projectId, userId: person.userId, evaluations, since: since ?? at });
    const isMember = evaluations.some((evaluation) => evaluation.matches);
    if (isMember !== (since !== undefined)) {
      const { audienceId } = version;
      decisions.push(
        ...definitionChangeDecisions(model, person, { audienceId, move: isMember ? 'joined' : 'left', now }),
      );
    }
  }
  await writeMemberships(tx, writes, at);
  await writeDecisions(tx, decisions);
  await setTimersEarlier(tx, 'process', earliestTimers(writes));
  const built = version.built + people.length;
  await advanceBuild(tx, { projectId, versionId: version.versionId, builtTo: lastUserId, built });
}

/**
 * Starts to serve the version. Audiences that refer to the old version would then read this one, and users would join and leave by that. So
 * those audiences are first rebuilt on this version, and all are served at once.
 */
async function serveTogether(step: Step): Promise<BuildStep> {
  const { tx, deps, projectId, model, version } = step;
  const { together, missing } = servingGroup(model, version);
  if (missing.size > 0) {
    const people = await countPeople(tx, projectId);
    await rebuildAudiences({ tx, clock: deps.db.clock }, { projectId, audienceIds: [...missing], people });
    return 'went on';
  }
  const remainingByEdition = new Map<AudienceVersion, Person[]>();
  for (const target of together) remainingByEdition.set(target, await listRemaining(step, target));
  const isUnfinished = ([target, remaining]: [AudienceVersion, Person[]]): boolean =>
    remaining.length === PEOPLE_OF_STEP || !isCounted(model, target);
  if ([...remainingByEdition].some(isUnfinished)) return 'waits';
  for (const [target, remaining] of remainingByEdition)
    await evaluatePeople({ ...step, version: target }, remaining);
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
