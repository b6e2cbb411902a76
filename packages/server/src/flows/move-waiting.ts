import { findRule, type WholeRule } from '../features/rules/index.ts';
import {
  compile,
  type MovedRuns,
  type MoveRuns,
  moveRuns,
  type Program,
  weighMove,
} from '../features/sequences/index.ts';
import { newModel, takeTurn } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { listRulesInForce } from './rules-in-force.ts';

/** Under the project's turn: people who are under way in an older version go on in the present one, where both agree so far. */
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

/** What moving would do, asked before it is done. */
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
