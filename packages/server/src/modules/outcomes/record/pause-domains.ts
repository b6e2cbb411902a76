import { findSending, pauseDomain } from '../../sending/index.ts';
import { countRefused } from '../reads.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type Concerned, isBounce, type Note } from './new-outcomes.ts';

const LETTERS = 100;
const REFUSED_MAX = 5;

/**
 * Pauses a domain after too many policy rejections, because every further email would harm it more. A member has to resume it; the count
 * then starts from zero.
 */
export async function pauseDomains(
  tx: Tx,
  { projectId, now, outcomes, letters }: Concerned,
): Promise<Note[]> {
  const refused = outcomes.filter((one) => isBounce(one, 'policy'));
  const names = new Set(refused.flatMap(({ messageId }) => letters.get(messageId)?.domain ?? []));
  const notes: Note[] = [];
  for (const name of [...names].toSorted()) {
    const domain = await findSending(tx, { projectId, name });
    if (!domain || domain.pausedAt !== null) continue;
    const since = domain.resumedAt ?? 0;
    const { count, of } = await countRefused(tx, { projectId, domain: name, since, letters: LETTERS });
    if (count <= REFUSED_MAX) continue;
    const reason = `${count} of its last ${of} emails were rejected because of their content or sender`;
    await pauseDomain(tx, { projectId, id: domain.id, reason, at: now });
    notes.push({ event: 'domain.paused', domain: domain.name, reason });
  }
  return notes;
}
