import { type Draft, findDraft, type DraftTransition } from '../drafts/index.ts';
import { findPeople, type Person } from '../users/index.ts';
import { findRunsById, type Run, loadProjectModels, type Model, type Models } from '../rules/index.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** A draft with its moves, run and user, and the current definitions of the project. */
export type DraftCase = {
  draft: Draft;
  moves: DraftTransition[];
  model: Model;
  person: Person | null;
  run: Run | null;
};

export type DraftCaseQuery = { projectId: number; draftId: string; now: number; models: Models };

export async function openCase(
  tx: Tx,
  { projectId, draftId, now, models }: DraftCaseQuery,
): Promise<DraftCase | undefined> {
  const found = await findDraft(tx, projectId, draftId);
  if (!found) return undefined;
  const { draft, moves } = found;
  const { runId, userId } = draft;
  const [model, [person], [run]] = await Promise.all([
    modelFor(tx, draft, { now, models }),
    findPeople(tx, [{ projectId, userId }]),
    runId === null ? [] : findRunsById(tx, [{ projectId, id: runId }]),
  ]);
  return { draft, moves, model, person: person ?? null, run: run ?? null };
}

/** Returns the definitions with the rule version of the draft. An ended draft may be of a version that is no longer in use. */
async function modelFor(
  tx: Tx,
  { projectId, ruleId, version }: Draft,
  { now, models }: Pick<DraftCaseQuery, 'now' | 'models'>,
): Promise<Model> {
  const lock = await readProjectLock(tx, projectId);
  const cachedModel = (await models.of(tx, [lock])).get(projectId);
  if (cachedModel?.rules.version(ruleId, version)) return cachedModel;
  const loaded = await loadProjectModels(tx, [lock], { now, versions: [{ projectId, ruleId, version }] });
  const model = loaded.get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  return model;
}
