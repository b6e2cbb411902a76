import type { Tx } from '../../../platform/db/statements.ts';
import { isSameUpTo, type Program } from './program.ts';
import { listPositionCounts } from './reads.ts';
import { type RunPosition, updateVersions } from './store.ts';

export type MoveRuns = {
  projectId: number;
  ruleId: string;
  to: { version: number; program: Program };
  /** The programs of older versions by version number. Runs of other versions stay. */
  programs: ReadonlyMap<number, Program>;
};

/** `stayed`: the number of runs by version and step whose step is not the same in both programs. */
export type MovedRuns = { moved: number; stayed: (RunPosition & { runs: number })[] };

/**
 * Moves waiting runs to another version if both programs are the same up to the run's step. Elsewhere the step number would have another
 * meaning, and a user might get an email twice. The run keeps waiting for the same thing until the same time. Requires the project lock.
 */
export async function moveRuns(tx: Tx, move: MoveRuns): Promise<MovedRuns> {
  const { projectId, ruleId, to } = move;
  const { movable, stayed } = await splitPositions(tx, move);
  if (movable.length === 0) return { moved: 0, stayed };
  return {
    moved: await updateVersions(tx, { projectId, ruleId, positions: movable, to: to.version }),
    stayed,
  };
}

/** Returns what `moveRuns` would do, without writing. */
export async function previewMoveRuns(tx: Tx, move: MoveRuns): Promise<MovedRuns> {
  const { movable, stayed } = await splitPositions(tx, move);
  return { moved: movable.reduce((sum, { runs }) => sum + runs, 0), stayed };
}

type PositionCounts = Awaited<ReturnType<typeof listPositionCounts>>;

async function splitPositions(
  tx: Tx,
  { projectId, ruleId, to, programs }: MoveRuns,
): Promise<{ movable: PositionCounts; stayed: PositionCounts }> {
  const [movable, stayed]: [PositionCounts, PositionCounts] = [[], []];
  for (const position of await listPositionCounts(tx, { projectId, ruleId, except: to.version })) {
    const program = programs.get(position.version);
    const isSame = program !== undefined && isSameUpTo(position.step, program, to.program);
    (isSame ? movable : stayed).push(position);
  }
  return { movable, stayed };
}
