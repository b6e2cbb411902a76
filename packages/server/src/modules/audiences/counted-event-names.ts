import type { Tx } from '../../platform/db/statements.ts';
import { loadModels } from './load-models.ts';

/** Lists the events that audiences count without a time window. Their counts must be kept forever. */
export async function namesAsked(tx: Tx, projectId: number): Promise<string[]> {
  return [...((await loadModels(tx, [projectId])).get(projectId)?.totals ?? [])].sort();
}
