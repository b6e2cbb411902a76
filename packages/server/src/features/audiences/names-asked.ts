import type { Tx } from '../../io/db/index.ts';
import { loadModels } from './load-models.ts';

/** The events that an audience asks about without a window, whose counts must be kept for ever. */
export async function namesAsked(tx: Tx, projectId: number): Promise<string[]> {
  return [...((await loadModels(tx, [projectId])).get(projectId)?.totals ?? [])].sort();
}
