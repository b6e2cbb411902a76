import { dueHeldNow, type HeldAsked } from './store.ts';
import { dueEarlier } from '../../platform/locks/timers.ts';
import type { Tx } from '../../platform/db/statements.ts';

/**
 * Schedules an immediate send check for drafts that are held for one of these reasons, because the cause may be fixed. They are sent
 * automatically if no other check holds them. Returns their number.
 */
export async function askHeldAgain(
  tx: Tx,
  { projectId, reasons, users = null, now }: HeldAsked,
): Promise<number> {
  const asked = await dueHeldNow(tx, { projectId, reasons, users, now });
  if (asked > 0) await dueEarlier(tx, 'send', [{ projectId, nextAt: new Date(now) }]);
  return asked;
}
