import { Fault } from '../../platform/fault.ts';
import { type Audience, findAudience } from './find-audience.ts';
import { deleteAudience as remove } from './delete-audience.ts';
import type { RuleNeed } from './rule-needs.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import type { AudienceDeps } from './create.ts';

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
