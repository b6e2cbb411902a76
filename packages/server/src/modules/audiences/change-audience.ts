import { checkDefinition } from './check-definition.ts';
import {
  type AudienceEdit,
  createAudience as create,
  deleteAudience as remove,
  editAudience as edit,
  rebuildAudience,
} from './write-audience.ts';
import { type Audience, findAudience } from './audience.ts';
import { listBuiltOn } from './references.ts';
import { countPeople as count } from './reads.ts';
import type { ListRuleNeeds, RuleNeed } from './uses.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** The database, and the needs of rules that depend on audiences. */
type AudienceDeps = { db: Pick<Database, 'transaction' | 'clock'>; listRuleNeeds: ListRuleNeeds };

/** Creates an audience under the project lock, so that each batch is processed by one set of definitions. */
export function createAudience(
  { db, listRuleNeeds }: AudienceDeps,
  input: { projectId: number; name: string; definition: unknown },
): Promise<Audience> {
  return db.transaction(async (tx) => {
    // The count only serves the progress of the build, so it is taken before the project lock is requested.
    const people = await countPeople(tx, input.projectId);
    await takeProjectLock(tx, input.projectId);
    const versionId = await incrementModel(tx, input.projectId);
    const audience = await create({ tx, clock: db.clock }, { ...input, versionId, people });
    await checkDefinition(tx, { projectId: input.projectId, now: db.clock.now(), listRuleNeeds });
    return audience;
  });
}

/**
 * Edits an audience under the project lock. A new name is also a new model, because a process with the old model would show the old name.
 */
export function editAudience({ db, listRuleNeeds }: AudienceDeps, input: AudienceEdit): Promise<Audience> {
  return db.transaction(async (tx) => {
    // The count only serves the progress of the build, so it is taken before the project lock is requested.
    const people = input.definition === undefined ? 0 : await countPeople(tx, input.projectId);
    await takeProjectLock(tx, input.projectId);
    const versionId = await incrementModel(tx, input.projectId);
    const { isRebuilt, ...audience } = await edit({ tx, clock: db.clock }, { ...input, versionId, people });
    const { projectId } = input;
    if (isRebuilt)
      await rebuildReferrers({ tx, clock: db.clock }, { projectId, audienceId: audience.id, people });
    if (input.definition !== undefined)
      await checkDefinition(tx, { projectId, now: db.clock.now(), listRuleNeeds });
    return audience;
  });
}

type Deps = { tx: Tx; clock: Clock };
type RebuildInput = { projectId: number; audienceIds: string[]; people: number };

/** Rebuilds each audience from the first user on, by its newest definition. The caller holds the project lock. */
export async function rebuildAudiences(
  deps: Deps,
  { projectId, audienceIds, people }: RebuildInput,
): Promise<void> {
  const referrers = await listBuiltOn(deps.tx, projectId, audienceIds);
  for (const audienceId of new Set([...audienceIds, ...referrers])) {
    const versionId = await incrementModel(deps.tx, projectId);
    await rebuildAudience(deps, { projectId, audienceId, versionId, people });
  }
}

/** Restarts builds that refer to an older version of this audience. The caller holds the project lock and has created a new version. */
async function rebuildReferrers(
  deps: Deps,
  { projectId, audienceId, people }: { projectId: number; audienceId: string; people: number },
): Promise<void> {
  const audienceIds = await listBuiltOn(deps.tx, projectId, [audienceId]);
  await rebuildAudiences(deps, { projectId, audienceIds, people });
}

/** Deletes an audience under the project lock, so that the next batch is processed without it. Rejected if a rule in force refers to it. */
export function deleteAudience(
  { db, listRuleNeeds }: AudienceDeps,
  input: { projectId: number; reference: string },
): Promise<Audience> {
  const { projectId } = input;
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const audience = await findAudience(tx, input);
    const needs = await listRuleNeeds(tx, projectId, db.clock.now());
    const rule = needs.find(({ audienceIds }) => audienceIds.includes(audience.id));
    if (rule) throw audienceInUse(audience, rule);
    await incrementModel(tx, projectId);
    return remove(tx, input);
  });
}

function audienceInUse({ name }: Audience, rule: RuleNeed): Fault {
  const [audience, ruleName] = [JSON.stringify(name), JSON.stringify(rule.name)];
  const where = rule.isPresent ? '' : ', in an older version with active runs';
  const message = `${audience} cannot be deleted: the rule ${ruleName} refers to it${where}`;
  return new Fault('validation_failed', { details: [{ message, field: 'audience' }] });
}

/** The count only shows the progress of a build. The build itself counts the users that it finds. */
const COUNTED_MAX = 5_000_000;

/** Counts the users to evaluate. Call it before taking the project lock where possible, so that no other process waits for the count. */
export function countPeople(tx: Tx, projectId: number): Promise<number> {
  return count(tx, projectId, COUNTED_MAX);
}
