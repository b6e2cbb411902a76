import type { Actor } from '../drafts/index.ts';
import { getSettings } from '../workspace/index.ts';
import { createRules } from './definitions/create-rule.ts';
import type { Rule } from './definitions/rule.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import { checkRule, readRule } from './check-rule.ts';

/**
 * Creates a rule under the project lock; records processed from then on are evaluated by it. The rule is enabled unless `isOff` is set.
 * With AI drafting, it starts in draft-only mode, so that a member reviews each email, unless its document sets a mode.
 */
export async function createRule(
  db: Pick<Database, 'transaction' | 'clock'>,
  wanted: { projectId: number; document: unknown; actor?: Actor; isOff?: boolean },
): Promise<Rule> {
  const { projectId, actor = 'operator', isOff = false } = wanted;
  const rule = readRule(wanted.document);
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await newModel(tx, projectId);
    const { drafting } = (await getSettings(tx, projectId)).settings;
    const mode = drafting === 'model' && !saysMode(wanted.document) ? 'draft' : rule.mode;
    const [created] = await createRules({ tx, clock: db.clock, actor, isOff }, projectId, [
      { ...rule, mode },
    ]);
    if (!created) throw new Error('a rule was made and is not there');
    await checkRule(tx, { projectId, definition: rule.definition, now: db.clock.now() });
    return created;
  });
}

function saysMode(document: unknown): boolean {
  return typeof document === 'object' && document !== null && Object.hasOwn(document, 'mode');
}
