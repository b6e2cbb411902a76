import { dueHeldNow, type HeldAsked } from '../features/drafts/index.ts';
import { dueEarlier } from '../features/turns/index.ts';
import type { Tx } from '../io/db/index.ts';

/**
 * What kept letters in may have been mended: those held for one of these reasons are asked again at once, and leave by
 * themselves if nothing else is in their way. How many there are.
 */
export async function askHeldAgain(
  tx: Tx,
  { projectId, reasons, users = null, now }: HeldAsked,
): Promise<number> {
  const asked = await dueHeldNow(tx, { projectId, reasons, users, now });
  if (asked > 0) await dueEarlier(tx, 'send', [{ projectId, nextAt: new Date(now) }]);
  return asked;
}
