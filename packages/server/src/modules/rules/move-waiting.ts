import { findRule, type WholeRule } from './definitions/find-rule.ts';
import { compile, type Program } from './runs/program.ts';
import { type MovedRuns, type MoveRuns, moveRuns, weighMove } from './runs/move-runs.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listRulesInForce } from './runs/rules-in-force.ts';

/**
 * Moves active runs of older versions to the current version, under the project lock, where both versions are equal up to the run's step.
 */
export function moveWaiting(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, reference }: { projectId: number; reference: string },
): Promise<MovedRuns & { rule: WholeRule }> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const { rule, move } = await moveOf(tx, { projectId, reference, now: db.clock.now() });
    const moved = await moveRuns(tx, move);
    await newModel(tx, projectId);
    return { rule, ...moved };
  });
}

type Asked = { projectId: number; reference: string; now: number };

/** Returns what `moveWaiting` would do. */
export async function previewMove(tx: Tx, asked: Asked): Promise<MovedRuns & { rule: WholeRule }> {
  const { rule, move } = await moveOf(tx, asked);
  return { rule, ...(await weighMove(tx, move)) };
}

async function moveOf(
  tx: Tx,
  { projectId, reference, now }: Asked,
): Promise<{ rule: WholeRule; move: MoveRuns }> {
  const rule = await findRule(tx, { projectId, reference });
  const inForce = await listRulesInForce(tx, projectId, now);
  const programs = new Map(
    inForce
      .filter(({ ruleId }) => ruleId === rule.id)
      .map(({ version, definition }): [number, Program] => [version, compile(definition.steps)]),
  );
  const to = { version: rule.version, program: compile(rule.definition.steps) };
  return { rule, move: { projectId, ruleId: rule.id, to, programs } };
}
