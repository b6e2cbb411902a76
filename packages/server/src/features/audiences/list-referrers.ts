import type { Tx } from '../../io/db/index.ts';
import { listCurrent, referencesOf } from './current.ts';

/** The audiences whose definition, served or being built, names this one. */
export async function listReferrers(
  tx: Tx,
  projectId: number,
  audienceId: string,
): Promise<{ id: string; name: string }[]> {
  const audiences = await listCurrent(tx, projectId);
  return audiences
    .filter((audience) => referencesOf(audience).has(audienceId))
    .map(({ id, name }) => ({ id, name }));
}
