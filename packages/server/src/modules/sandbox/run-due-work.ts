import { listBuilding } from '../audiences/index.ts';
import { listCountingProjects } from '../users/index.ts';
import { findToDo, type ToDo } from './store.ts';
import { takeSendTurn } from '../sending/index.ts';
import { takeTurn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { BuildStep, Digest } from '../processing/index.ts';
import type { DueDraftSender } from '../delivery/index.ts';

/** Processes the work of one project, at the time that its clock shows. */
export type Engine = { db: Database; digest: Digest; sender: DueDraftSender; projectId: number };

const PRIORITIES = ['live', 'bulk'] as const;
const EDITIONS_MAX = 100;
/** The wait while another worker has some of the work. */
const BUSY_MS = 5;

/**
 * Processes everything that waits or is due until nothing is left. Workers of this and other processes may do some of it. Returns false if
 * `mayGoOn` returned false.
 */
export async function settle(engine: Engine, mayGoOn: () => Promise<boolean>): Promise<boolean> {
  while (await mayGoOn()) {
    if ((await doWhatIsThere(engine)) > 0) continue;
    if (await isAllDone(engine)) return true;
    await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
  }
  return false;
}

async function doWhatIsThere(engine: Engine): Promise<number> {
  const { digest, sender, projectId } = engine;
  const toDo = await look(engine.db, engine);
  let done = 0;
  // Definitions come first, so that incoming records find them complete.
  if (toDo.build) for (let built = await build(engine); built > 0; built = await build(engine)) done += built;
  for (const priority of PRIORITIES)
    if (toDo[priority]) done += (await digest.batch(priority, [projectId])).records;
  if (toDo.process) done += (await digest.due(projectId)).people;
  if (toDo.send) done += (await sender.batch(projectId)).drafts;
  return done;
}

function look(tx: Tx, { db, projectId }: Engine): Promise<ToDo> {
  return findToDo(tx, { projectId, now: new Date(db.clock.now()) });
}

async function build({ db, digest, projectId }: Engine): Promise<number> {
  const places = await listBuilding(db, EDITIONS_MAX, { projectId, edition: 0 });
  const steps: BuildStep[] = [];
  for (const place of places) if (place.projectId === projectId) steps.push(await digest.build(place));
  const [counting] = await listCountingProjects(db, { after: projectId - 1, limit: 1 });
  if (counting === projectId) steps.push(await digest.count(projectId));
  return steps.filter((step) => step === 'went on' || step === 'served').length;
}

/** Returns true if nothing is left to do. Taking both locks waits for active workers; emails that are still being sent count as work. */
function isAllDone(engine: Engine): Promise<boolean> {
  const { db, projectId } = engine;
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await takeSendTurn(tx, projectId);
    return Object.values(await look(tx, engine)).every((is) => !is);
  });
}
