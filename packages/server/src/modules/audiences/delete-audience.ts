import type { Tx } from '../../platform/db/statements.ts';
import { invalid } from './audience.ts';
import { type Audience, findAudience } from './find-audience.ts';
import { listReferrers } from './list-referrers.ts';
import { deleteAudienceRows, retireEditions } from './store.ts';

/** Deletes an audience. Its members and timers are removed in the background. Requires the project lock. */
export async function deleteAudience(
  tx: Tx,
  wanted: { projectId: number; reference: string },
): Promise<Audience> {
  const audience = await findAudience(tx, wanted);
  const { projectId } = wanted;
  const referrers = await listReferrers(tx, projectId, audience.id);
  if (referrers.length > 0) {
    const names = referrers.map(({ name }) => JSON.stringify(name)).join(', ');
    const message = `${JSON.stringify(audience.name)} cannot be deleted: ${names} ${referrers.length === 1 ? 'refers' : 'refer'} to it`;
    throw invalid(message, 'audience');
  }
  await retireEditions(tx, { projectId, audienceId: audience.id, states: ['building', 'served'] });
  await deleteAudienceRows(tx, projectId, audience.id);
  return audience;
}
