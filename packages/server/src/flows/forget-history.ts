import { forgetEvents } from '../features/events/index.ts';
import { forgetDead } from '../features/inbox/index.ts';
import { getSettings } from '../features/projects/index.ts';
import { deleteFrozen } from '../features/sending/index.ts';
import { forgetStream } from '../features/stream/index.ts';
import type { Database, Tx } from '../io/db/index.ts';

/** Some ten milliseconds; nobody waits behind it for long. */
const STEP = 1_000;
/** Questions about a window look that much further back, because clocks differ. */
const MARGIN_MS = 3_600_000;

type Step = (tx: Tx, wanted: { projectId: number; before: Date; limit: number }) => Promise<number>;

/**
 * Deletes what a project keeps no longer (events, stream, dead letters, letters as they left), in steps that are a transaction each, for as long
 * as `mayGoOn`. True if it came to the end.
 */
export async function forgetHistory(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
  projectId: number,
  mayGoOn: () => boolean,
): Promise<boolean> {
  const { settings } = await getSettings(db, projectId);
  const kept: [keepMs: number | null, step: Step][] = [
    [settings.keepEventsMs, forgetEvents],
    [settings.keepStreamMs, forgetStream],
    [settings.keepDeadMs, forgetDead],
    [settings.keepLettersMs, deleteFrozen],
  ];
  for (const [keepMs, step] of kept) {
    if (keepMs === null) continue;
    const before = new Date(db.clock.now() - keepMs - MARGIN_MS);
    let forgotten = STEP;
    while (forgotten === STEP) {
      if (!mayGoOn()) return false;
      forgotten = await db.transaction((tx) => step(tx, { projectId, before, limit: STEP }));
    }
  }
  return true;
}
