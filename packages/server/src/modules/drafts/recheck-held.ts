import { setHeldDueNow, type HeldDraftsInput } from './store.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import type { Tx } from '../../platform/db/statements.ts';

/**
 * Schedules an immediate send check for drafts that are held for one of these reasons, because the cause may be fixed. They are sent
 * automatically if no other check holds them. Returns their number.
 */
export async function recheckHeld(
  tx: Tx,
  { projectId, reasons, users = null, now }: HeldDraftsInput,
): Promise<number> {
  const count = await setHeldDueNow(tx, { projectId, reasons, users, now });
  if (count > 0) await setTimersEarlier(tx, 'send', [{ projectId, nextAt: new Date(now) }]);
  return count;
}
