import { findRule, type WholeRule } from '../features/rules/index.ts';
import { compile, type MovedRuns, moveRuns, type Program } from '../features/sequences/index.ts';
import { newModel, takeTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';
import { listRulesInForce } from './rules-in-force.ts';

/** Under the project's turn: people who are under way in an older version go on in the present one, where both agree so far. */
export function moveWaiting(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, reference }: { projectId: number; reference: string },
): Promise<MovedRuns & { rule: WholeRule }> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const rule = await findRule(tx, { projectId, reference });
    const inForce = await listRulesInForce(tx, projectId, db.clock.now());
    const programs = new Map(
      inForce
        .filter(({ ruleId }) => ruleId === rule.id)
        .map(({ version, definition }): [number, Program] => [version, compile(definition.steps)]),
    );
    const to = { version: rule.version, program: compile(rule.definition.steps) };
    const moved = await moveRuns(tx, { projectId, ruleId: rule.id, to, programs });
    await newModel(tx, projectId);
    return { rule, ...moved };
  });
}
