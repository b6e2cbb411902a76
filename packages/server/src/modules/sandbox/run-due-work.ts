/** Processes the work of one project, at the time that its clock shows. */

import { listBuilding } from '../audiences/index.ts';
import { listCountingProjects } from '../users/index.ts';
import { findToDo, type ToDo } from './store.ts';
import { takeSendLock } from '../sending/index.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { BuildStep, Processor } from '../processing/index.ts';
import type { DueDraftSender } from '../delivery/index.ts';

export type Engine = { db: Database; processor: Processor; sender: DueDraftSender; projectId: number };

const PRIORITIES = ['live', 'bulk'] as const;
const VERSIONS_MAX = 100;
/** The wait while another worker has some of the work. */
const BUSY_MS = 5;

/**
 * Processes everything that waits or is due until nothing is left. Workers of this and other processes may do some of it. Returns false if
 * `canContinue` returned false.
 */
export async function settle(engine: Engine, canContinue: () => Promise<boolean>): Promise<boolean> {
  while (await canContinue()) {
    if ((await doPendingWork(engine)) > 0) continue;
    if (await isAllDone(engine)) return true;
    await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
  }
  return false;
}

async function doPendingWork(engine: Engine): Promise<number> {
  const { processor, sender, projectId } = engine;
  const toDo = await findWork(engine.db, engine);
  let count = 0;
  // Definitions come first, so that incoming records find them complete.
  if (toDo.build)
    for (let built = await build(engine); built > 0; built = await build(engine)) count += built;
  for (const priority of PRIORITIES)
    if (toDo[priority]) count += (await processor.batch(priority, [projectId])).records;
  if (toDo.process) count += (await processor.timers(projectId)).people;
  if (toDo.send) count += (await sender.batch(projectId)).drafts;
  return count;
}

function findWork(tx: Tx, { db, projectId }: Engine): Promise<ToDo> {
  return findToDo(tx, { projectId, now: new Date(db.clock.now()) });
}

async function build({ db, processor, projectId }: Engine): Promise<number> {
  const keys = await listBuilding(db, VERSIONS_MAX, { projectId, versionId: 0 });
  const steps: BuildStep[] = [];
  for (const key of keys) if (key.projectId === projectId) steps.push(await processor.build(key));
  const [counting] = await listCountingProjects(db, { after: projectId - 1, limit: 1 });
  if (counting === projectId) steps.push(await processor.count(projectId));
  return steps.filter((step) => step === 'went on' || step === 'served').length;
}

/** Returns true if nothing is left to do. Taking both locks waits for active workers; emails that are still being sent count as work. */
function isAllDone(engine: Engine): Promise<boolean> {
  const { db, projectId } = engine;
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await takeSendLock(tx, projectId);
    return Object.values(await findWork(tx, engine)).every((hasWork) => !hasWork);
  });
}
