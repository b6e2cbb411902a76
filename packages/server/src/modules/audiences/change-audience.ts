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
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** The database, and the needs of rules that depend on audiences. */
type AudienceDeps = { db: Pick<Database, 'transaction' | 'clock'>; listRuleNeeds: ListRuleNeeds };

/** Creates an audience under the project lock, so that each batch is processed by one set of definitions. */
export function createAudience(
  { db, listRuleNeeds }: AudienceDeps,
  wanted: { projectId: number; name: string; definition: unknown },
): Promise<Audience> {
  return db.transaction(async (tx) => {
    // The count only serves the progress of the build, so it is taken before the project lock is requested.
    const people = await countPeople(tx, wanted.projectId);
    await takeTurn(tx, wanted.projectId);
    const edition = await newModel(tx, wanted.projectId);
    const audience = await create({ tx, clock: db.clock }, { ...wanted, edition, people });
    await checkDefinition(tx, { projectId: wanted.projectId, now: db.clock.now(), listRuleNeeds });
    return audience;
  });
}

/**
 * Edits an audience under the project lock. A new name is also a new model, because a process with the old model would show the old name.
 */
export function editAudience({ db, listRuleNeeds }: AudienceDeps, wanted: AudienceEdit): Promise<Audience> {
  return db.transaction(async (tx) => {
    // The count only serves the progress of the build, so it is taken before the project lock is requested.
    const people = wanted.definition === undefined ? 0 : await countPeople(tx, wanted.projectId);
    await takeTurn(tx, wanted.projectId);
    const edition = await newModel(tx, wanted.projectId);
    const { isRebuilt, ...audience } = await edit({ tx, clock: db.clock }, { ...wanted, edition, people });
    const { projectId } = wanted;
    if (isRebuilt)
      await rebuildReferrers({ tx, clock: db.clock }, { projectId, audienceId: audience.id, people });
    if (wanted.definition !== undefined)
      await checkDefinition(tx, { projectId, now: db.clock.now(), listRuleNeeds });
    return audience;
  });
}

type Deps = { tx: Tx; clock: Clock };
type Wanted = { projectId: number; audienceIds: string[]; people: number };

/** Rebuilds each audience from the first user on, by its newest definition. The caller holds the project lock. */
export async function rebuildAudiences(
  deps: Deps,
  { projectId, audienceIds, people }: Wanted,
): Promise<void> {
  const more = await listBuiltOn(deps.tx, projectId, audienceIds);
  for (const audienceId of new Set([...audienceIds, ...more])) {
    const edition = await newModel(deps.tx, projectId);
    await rebuildAudience(deps, { projectId, audienceId, edition, people });
  }
}

/** Restarts builds that refer to an older edition of this audience. The caller holds the project lock and has created a new edition. */
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
  wanted: { projectId: number; reference: string },
): Promise<Audience> {
  const { projectId } = wanted;
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const audience = await findAudience(tx, wanted);
    const needs = await listRuleNeeds(tx, projectId, db.clock.now());
    const naming = needs.find(({ audienceIds }) => audienceIds.includes(audience.id));
    if (naming) throw stillNamed(audience, naming);
    await newModel(tx, projectId);
    return remove(tx, wanted);
  });
}

function stillNamed({ name }: Audience, rule: RuleNeed): Fault {
  const [audience, named] = [JSON.stringify(name), JSON.stringify(rule.name)];
  const where = rule.isPresent ? '' : ', in an older version with active runs';
  const message = `${audience} cannot be deleted: the rule ${named} refers to it${where}`;
  return new Fault('validation_failed', { details: [{ message, field: 'audience' }] });
}

/** The count only shows the progress of a build. The build itself counts the users that it finds. */
const COUNTED_MAX = 5_000_000;

/** Counts the users to evaluate. Call it before taking the project lock where possible, so that no other process waits for the count. */
export function countPeople(tx: Tx, projectId: number): Promise<number> {
  return count(tx, projectId, COUNTED_MAX);
}
