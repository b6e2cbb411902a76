import type { Actor } from '../features/drafts/index.ts';
import { getSettings } from '../features/projects/index.ts';
import { createRules, type Rule } from '../features/rules/index.ts';
import { newModel, takeTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';
import { checkRule, readRule } from './check-rule.ts';

/**
 * Under the project's turn: what is digested from then on is considered by it. It is on, unless `isOff`. Where a model words the letters, it
 * begins with a person looking at each, unless its document says otherwise.
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
