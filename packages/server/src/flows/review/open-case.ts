import { type Draft, findDraft, type Move } from '../../features/drafts/index.ts';
import { findPeople, type Person } from '../../features/people/index.ts';
import { findRunsById, type Run } from '../../features/sequences/index.ts';
import { readTurn } from '../../features/turns/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { loadProjectModels, type Model, type Models } from '../models.ts';

/** A draft with all that it came of: the run, whom it is for, and what the project says today. */
export type DraftCase = {
  draft: Draft;
  moves: Move[];
  model: Model;
  person: Person | null;
  run: Run | null;
};

export type CaseAsked = { projectId: number; draftId: string; now: number; models: Models };

export async function openCase(
  tx: Tx,
  { projectId, draftId, now, models }: CaseAsked,
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

/** One that came to its end may be of a version of its rule that nobody uses any more. */
async function modelFor(
  tx: Tx,
  { projectId, ruleId, version }: Draft,
  { now, models }: Pick<CaseAsked, 'now' | 'models'>,
): Promise<Model> {
  const turn = await readTurn(tx, projectId);
  const known = (await models.of(tx, [turn])).get(projectId);
  if (known?.rules.version(ruleId, version)) return known;
  const loaded = await loadProjectModels(tx, [turn], { now, versions: [{ projectId, ruleId, version }] });
  const model = loaded.get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  return model;
}
