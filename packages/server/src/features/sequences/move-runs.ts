import type { Tx } from '../../io/db/index.ts';
import { isSameUpTo, type Program } from './program.ts';
import { listPlaces } from './reads.ts';
import { type Place, updateVersions } from './store.ts';

export type MoveRuns = {
  projectId: number;
  ruleId: string;
  to: { version: number; program: Program };
  /** Of the older versions, by their numbers; runs of a version that is not here stay. */
  programs: ReadonlyMap<number, Program>;
};

/** `stayed`: how many runs of which version stand at a step to which the two programs do not lead in the same way. */
export type MovedRuns = { moved: number; stayed: (Place & { runs: number })[] };

/**
 * Has runs that wait go on by another version, where both are the same up to the step at which they stand: anywhere else
 * its number would mean something else there, and somebody could get a letter twice. What they wait for, and until when,
 * stays. With the project's turn taken.
 */
export async function moveRuns(tx: Tx, move: MoveRuns): Promise<MovedRuns> {
  const { projectId, ruleId, to } = move;
  const { movable, stayed } = await sortPlaces(tx, move);
  if (movable.length === 0) return { moved: 0, stayed };
  return { moved: await updateVersions(tx, { projectId, ruleId, places: movable, to: to.version }), stayed };
}

/** What it would do; nothing is written. */
export async function weighMove(tx: Tx, move: MoveRuns): Promise<MovedRuns> {
  const { movable, stayed } = await sortPlaces(tx, move);
  return { moved: movable.reduce((sum, { runs }) => sum + runs, 0), stayed };
}

type Places = Awaited<ReturnType<typeof listPlaces>>;

async function sortPlaces(
  tx: Tx,
  { projectId, ruleId, to, programs }: MoveRuns,
): Promise<{ movable: Places; stayed: Places }> {
  const [movable, stayed]: [Places, Places] = [[], []];
  for (const place of await listPlaces(tx, { projectId, ruleId, except: to.version })) {
    const program = programs.get(place.version);
    const isSame = program !== undefined && isSameUpTo(place.step, program, to.program);
    (isSame ? movable : stayed).push(place);
  }
  return { movable, stayed };
}
